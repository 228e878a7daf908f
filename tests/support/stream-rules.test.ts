// Tests of the stream rules: a correct stream passes, and each breach is named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientFormats } from '../../src/formats/registry.ts';
import type { WireName } from './answers.ts';
import { answerOf, pieceEvents } from './canonical/answers.ts';
import { callPart, textPart, thinkingPart } from './canonical/parts.ts';
import { answerContext } from './pipes.ts';
import { checkStream } from './stream-rules.ts';

/** Texts and arguments come in two pieces. */
const events = pieceEvents(
  answerOf(
    [
      thinkingPart('Hm.'),
      textPart('one two'),
      callPart('call_1', 'add', '{"a":1}'),
      callPart('call_2', 'add'),
    ],
    { usage: null },
  ),
  4,
);

/** A stream from our own writer, with a keep-alive and the cost. */
function properStream(wire: WireName): string {
  const pipe = clientFormats[wire].writeStream(answerContext(wire));
  return `: keep-alive\n\n${events.map(pipe.push).join('')}${pipe.close(0.000001)}`;
}

/** Changes to the correct stream, each with the rule that it breaks. */
type Breaches = Readonly<Record<string, readonly [change: (stream: string) => string, RegExp]>>;

const drop = (pattern: RegExp) => (stream: string) => withoutFrame(stream, pattern, 0);
const dropLast = (pattern: RegExp) => (stream: string) => withoutFrame(stream, pattern, -1);
const repeat = (pattern: RegExp) => (stream: string) => {
  const frames = stream.split('\n\n');
  const index = frames.findIndex((frame) => pattern.test(frame));
  return frames.toSpliced(index, 0, frames[index]!).join('\n\n');
};
const replace = (from: string | RegExp, to: string) => (stream: string) => stream.replace(from, to);
/**
 * Renumbers a changed Responses stream, so that another rule than that of the numbers must find the
 * change.
 */
const renumber = (change: (stream: string) => string) => (stream: string) => {
  let next = 0;
  return change(stream).replaceAll(/"sequence_number":\d+/g, () => `"sequence_number":${next++}`);
};

const everywhere: Breaches = {
  'a frame that is cut off': [(stream) => stream.slice(0, -1), /cut off/],
  'a carriage return': [replace('\n\n', '\r\n\r\n'), /line feed/],
  'two lines of data': [replace('"model"', '\ndata: "model"'), /one line of data/],
  'a comment that says something': [
    (stream) => `: cost_micros=1\n\n${stream}`,
    /tell of silence alone/,
  ],
  'no cost': [replace(/,"cost":[\d.]+/, ''), /tells its cost/],
  'a cost too many': [replace(/"cost":/, '"cost_details":{},"cost":'), /no cost but/],
};

const breaches: Readonly<Record<WireName, Breaches>> = {
  chat: {
    'no end': [drop(/\[DONE\]/), /the error has a code/],
    'an event line': [replace('data:', 'event: chunk\ndata:'), /data lines only/],
    'no role': [replace('"role":"assistant",', ''), /the role comes first/],
    'a role again': [repeat(/"role"/), /the role comes first/],
    'another model': [replace('"model":"catalogue/model"', '"model":"n"'), /one model/],
    'no finish': [drop(/tool_calls"\}/), /every choice has finished/],
    'text with the finish': [replace('"delta":{},', '"delta":{"content":"x"},'), /its own chunk/],
    'text after the finish': [
      repeat(/"finish_reason":"tool_calls"/),
      /nothing comes after the finish/,
    ],
    'no usage': [drop(/prompt_tokens/), /the usage comes once/],
    'a call that is not named': [drop(/call_1/), /a call has an id/],
    'a call that is skipped': [
      replace('"tool_calls":[{"index":0', '"tool_calls":[{"index":1'),
      /without gaps/,
    ],
    'a call that is named again': [repeat(/call_1/), /named once/],
    'a plain stop with calls': [
      replace('"finish_reason":"tool_calls"', '"finish_reason":"stop"'),
      /calls, and the finish/,
    ],
  },
  messages: {
    'no end': [drop(/message_stop/), /message_stop comes last/],
    'no start': [drop(/message_start/), /message_start comes first/],
    'an unknown input': [replace('"input_tokens":77', '"input_tokens":0'), /context meters/],
    'a block that stays open': [drop(/content_block_stop/), /do not overlap/],
    'the last block that stays open': [dropLast(/content_block_stop/), /after the last block/],
    'a block that is skipped': [replace('"index":0', '"index":1'), /without gaps/],
    'a delta of another block': [
      replace('"index":0,"delta"', '"index":1,"delta"'),
      /of the open block/,
    ],
    'a delta of another kind': [
      replace('thinking_delta', 'text_delta'),
      /text_delta in a block of kind thinking/,
    ],
    'no stop reason': [drop(/message_delta/), /tells the stop reason/],
    'a name that is not the type': [
      replace('event: message_start', 'event: message'),
      /names the type/,
    ],
  },
  responses: {
    'no end': [renumber(drop(/response\.completed/)), /the last event ends the response/],
    'a gap in the numbers': [drop(/output_text\.delta/), /no gaps/],
    'no in_progress': [
      renumber(drop(/event: response\.in_progress/)),
      /begins with created and in_progress/,
    ],
    'a text that lost a piece': [renumber(drop(/output_text\.delta/)), /holds the whole text/],
    'arguments that lost a piece': [renumber(drop(/arguments\.delta/)), /holds the whole text/],
    'a part that is not announced': [renumber(drop(/content_part\.added/)), /of the open part/],
    'a part that stays open': [renumber(drop(/content_part\.done/)), /every part is done/],
    'an item that stays open': [renumber(drop(/output_item\.done/)), /items do not overlap/],
    'the last item that stays open': [
      renumber(dropLast(/output_item\.done/)),
      /every item is done/,
    ],
    'an item that is not announced': [renumber(drop(/output_item\.added/)), /outside of an item/],
    'another id of an item': [replace(/"item_id":"[^"]+"/, '"item_id":"x"'), /names the open item/],
    'a final output that lost an item': [
      replace(/("status":"completed"[^\n]*"output":\[)\{.*?\},(?=\{)/, '$1'),
      /the final output is not/,
    ],
    'no usage': [replace(/"usage":\{"input_tokens":\d+,/, '"usage":{'), /the usage is present/],
  },
};

function withoutFrame(stream: string, pattern: RegExp, at: 0 | -1): string {
  const frames = stream.split('\n\n');
  const matches = frames.flatMap((frame, index) => (pattern.test(frame) ? [index] : []));
  return frames.toSpliced(matches.at(at)!, 1).join('\n\n');
}

for (const wire of ['chat', 'messages', 'responses'] as const) {
  test(`${wire}: a valid stream passes`, () => {
    assert.deepEqual(checkStream(wire, properStream(wire), { usageAsked: true }), {
      ending: 'success',
      text: 'one two',
    });
  });
  const all = { ...everywhere, ...breaches[wire] };
  for (const [what, [change, rule]] of Object.entries(all)) {
    test(`${wire}: ${what} is found`, () => {
      const stream = properStream(wire);
      const changed = change(stream);
      assert.notEqual(changed, stream, 'the breach was made');
      assert.throws(() => checkStream(wire, changed, { usageAsked: true }), rule);
    });
  }
}
