import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { noUsage } from '../../canonical/usage.ts';
import {
  answerContext,
  answers,
  contextOf,
  eventsOf,
  runPipe,
  runReader,
  wildEvents,
} from '../../../tests/support/formats/messages.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { objectOf, textOf } from '../../lib/json.ts';
import { writeInput } from '../call-arguments.ts';
import { readStream } from './read-stream.ts';
import { writeStream } from './write-stream.ts';
import { eventsOf as answerEvents } from '../../canonical/answer.ts';

const stop = { reason: 'end', sequence: null } as const;
const finish: StreamEvent = {
  type: 'finish',
  stop,
  usage: { ...noUsage, inputTokens: 5, outputTokens: 7 },
};
const write = (events: Iterable<StreamEvent>) => runPipe(writeStream(answerContext()), events);

test('an answer survives being streamed and collected', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      const content = answer.content.map((part) =>
        part.type === 'tool-call' && !part.arguments.startsWith('{')
          ? { ...part, arguments: JSON.stringify(writeInput(part.arguments)) }
          : part,
      );
      const text = runPipe(writeStream(contextOf(answer)), answerEvents(answer));
      assert.deepEqual(collect(runReader(readStream(), parseSse(text))), {
        ...answer,
        content,
      });
    }),
  );
});

test('arguments that do not begin as an object are sent as one, as in a whole answer', () => {
  const inputOf = (...pieces: string[]) => {
    const events: StreamEvent[] = [
      { type: 'tool-call-start', id: 'c', name: 'f', kind: 'function' },
      ...pieces.map((text) => ({ type: 'tool-call-delta', text }) as const),
      { type: 'tool-call-end' },
    ];
    return eventsOf(write([...events, finish]))
      .map(({ delta }) => textOf(objectOf(delta).partial_json))
      .join('');
  };
  assert.equal(inputOf(' ', '{"a"', ':1}'), ' {"a":1}');
  assert.equal(inputOf('nu', 'll'), '{}');
  assert.equal(inputOf('Par', 'is'), '{"invalid_json_arguments":"Paris"}');
  assert.equal(inputOf('"{\\"a\\":', '1}"'), '{"a":1}');
  assert.equal(inputOf(), '');
});

test('for any events, blocks never overlap, have gapless numbers and get deltas of their own kind', () => {
  fc.assert(
    fc.property(fc.array(wildEvents, { maxLength: 30 }), (events) => {
      const written = eventsOf(write([...events, finish]));
      const kinds: Record<string, string> = {
        text_delta: 'text',
        citations_delta: 'text',
        thinking_delta: 'thinking',
        signature_delta: 'thinking',
        input_json_delta: 'tool_use',
      };
      let next = 0;
      let open: string | null = null;
      assert.deepEqual(written.at(0)?.type, 'message_start');
      for (const event of written.slice(1, -2)) {
        if (event.type === 'content_block_start') {
          assert.equal(open, null);
          assert.equal(event.index, next);
          open = (event.content_block as { type: string }).type;
        } else {
          assert.ok(open !== null && event.index === next);
          if (event.type === 'content_block_stop') {
            open = null;
            next++;
          } else {
            assert.equal(event.type, 'content_block_delta');
            assert.equal(kinds[(event.delta as { type: string }).type], open);
          }
        }
      }
      assert.equal(open, null);
      assert.deepEqual(
        written.slice(-2).map((event) => event.type),
        ['message_delta', 'message_stop'],
      );
    }),
  );
});

test('for any events, no text is lost except that of hidden reasoning', () => {
  fc.assert(
    fc.property(fc.array(wildEvents, { maxLength: 30 }), (events) => {
      const sent = events.flatMap((event) =>
        event.type === 'text-delta' || event.type === 'refusal-delta' ? [event.text] : [],
      );
      const got = eventsOf(write([...events, finish])).flatMap((event) => {
        const delta = event.delta as { type?: string; text?: string } | undefined;
        return delta?.type === 'text_delta' ? [delta.text] : [];
      });
      assert.deepEqual(got, sent);
    }),
  );
});

test('a text stream is the documented sequence, with its last two events held back', () => {
  const pipe = writeStream(answerContext());
  const frames = [
    { type: 'start', usage: null },
    { type: 'text-start' },
    { type: 'text-delta', text: 'Hi' },
    { type: 'text-end' },
    finish,
  ] as const satisfies StreamEvent[];
  const sent = frames.map((event) => pipe.push(event)).join('');
  assert.deepEqual(
    parseSse(sent).map((event) => event.event),
    ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
  );
  assert.equal(pipe.progress.status, 'finished');
  assert.deepEqual(pipe.progress.usage, finish.usage);
  assert.equal(pipe.push({ type: 'text-delta', text: 'more' }), '');
  assert.equal(pipe.end(), '');
  const [delta, end] = eventsOf(pipe.close(0.5));
  assert.equal(delta!.type, 'message_delta');
  assert.equal((delta!.usage as Record<string, unknown>).cost, 0.5);
  assert.deepEqual(end, { type: 'message_stop' });
  const [start] = eventsOf(sent);
  assert.deepEqual((start!.message as Record<string, unknown>).usage, {
    input_tokens: 77,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
    output_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  });
});

test('the first event has the upstream’s early input count if there is one', () => {
  const [start] = eventsOf(
    write([{ type: 'start', usage: { ...noUsage, inputTokens: 31, cacheReadTokens: 9 } }, finish]),
  );
  const { usage } = start!.message as { usage: Record<string, unknown> };
  assert.equal(usage.input_tokens, 31);
  assert.equal(usage.cache_read_input_tokens, 9);
});
