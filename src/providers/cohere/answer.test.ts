import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { pieceOf } from '../../../tests/support/cohere-answers.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { SseParser } from '../../lib/sse.ts';
import { asCompletion, toServerSentEvents } from './answer.ts';

async function read(bytes: Iterable<Uint8Array>): Promise<readonly StreamEvent[]> {
  const reader = upstreamFormats.chat.readStream();
  const parser = new SseParser();
  const events: StreamEvent[] = [];
  async function* chunks() {
    yield* bytes;
  }
  for await (const chunk of toServerSentEvents(chunks()))
    for (const event of parser.push(chunk)) events.push(...reader.push(event));
  return [...events, ...reader.end()];
}

const said = (text: string) =>
  pieceOf('content-delta', { delta: { message: { content: { text } } } });
const start = pieceOf('content-start', {
  delta: { message: { content: { type: 'text', text: '' } } },
});
const end = (reason: string) =>
  pieceOf('message-end', {
    delta: {
      finish_reason: reason,
      usage: { billed_units: { input_tokens: 3, output_tokens: 2 }, tokens: { input_tokens: 500 } },
    },
  });

test('an answer that the host breaks off, ends early or replaces by an error is a failure', async () => {
  const failures = [
    [start, said('Hi'), end('ERROR')],
    [start, said('Hi'), end('TIMEOUT')],
    [start, said('Hi'), end('USER_CANCEL')],
    [start, said('Hi')],
    [start, said('Hi'), Buffer.from('data: {"id":"i","message":"oops"}\n\n')],
    [start, Buffer.from('data: nonsense\n\n'), end('COMPLETE')],
  ];
  for (const pieces of failures) {
    const events = await read(pieces);
    assert.equal(events.at(-1)!.type, 'error', JSON.stringify(events));
  }
  const [finish] = (await read([start, said('Hi'), end('COMPLETE')])).slice(-1);
  assert.ok(finish?.type === 'finish' && finish.stop.reason === 'end');
  assert.deepEqual([finish.usage!.inputTokens, finish.usage!.outputTokens], [3, 2]);
});

test('what is billed counts, and without it what the model read', () => {
  const usageOf = (usage: JsonObject) =>
    (
      asCompletion({
        message: { role: 'assistant' },
        finish_reason: 'COMPLETE',
        usage,
      }) as JsonObject
    ).usage;
  const tokens = { input_tokens: 506, output_tokens: 55, reasoning_tokens: 60 };
  const expected = (prompt: number, completion: number, reasoning: number) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    completion_tokens_details: { reasoning_tokens: reasoning },
  });
  const billed = { input_tokens: 11, output_tokens: 50 };
  assert.deepEqual(
    usageOf({ billed_units: billed, tokens, cached_tokens: 448 }),
    expected(11, 50, 50),
  );
  assert.deepEqual(usageOf({ tokens }), expected(506, 55, 55));
  assert.deepEqual(
    usageOf({ billed_units: { input_tokens: -1, output_tokens: 1e12 } }),
    expected(0, 0, 0),
  );
});

test('a citation points at its words in code units, and only pages are cited', () => {
  const text = '👋👋 Ruby is old.';
  const page = { url: 'https://example.com/ruby', title: 'Ruby' };
  const citing = (source: object) => ({ start: 3, end: 7, text: 'Ruby', sources: [source] });
  const { choices } = asCompletion({
    message: {
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text },
      ],
      citations: [
        citing({ type: 'tool', id: 'c:0', tool_output: page }),
        citing({ type: 'document', id: 'd', document: { text: 'x' } }),
        citing({ type: 'document', id: 'd', document: { url: 'javascript:x' } }),
      ],
    },
    finish_reason: 'COMPLETE',
  }) as { choices: [{ message: { annotations: { url_citation: JsonObject }[] } }] };
  const cited = choices[0].message.annotations.map(({ url_citation: each }) => each);
  assert.deepEqual(cited, [{ ...page, start_index: 5, end_index: 9 }]);
  assert.equal(text.slice(5, 9), 'Ruby');
});

test('a place is counted in the block that the citation names, and thoughts cite nothing', () => {
  const page = { url: 'https://example.com/ruby', title: 'Ruby' };
  const citing = (content_index: number, type: string) => ({
    start: 1,
    end: 5,
    type,
    content_index,
    sources: [{ type: 'document', id: 'd', document: page }],
  });
  const words = [
    { type: 'thinking', thinking: 'A Ruby.' },
    { type: 'text', text: '👋Ruby. ' },
    { type: 'text', text: ' Perl!' },
  ];
  const citations = [
    citing(2, 'TEXT_CONTENT'),
    citing(1, 'TEXT_CONTENT'),
    citing(0, 'THINKING_CONTENT'),
    citing(0, 'PLAN'),
  ];
  const { choices } = asCompletion({ message: { content: words, citations } }) as {
    choices: [{ message: { content: string; annotations: { url_citation: JsonObject }[] } }];
  };
  const { content, annotations } = choices[0].message;
  const cited = annotations.map(({ url_citation: { start_index: from, end_index: to } }) =>
    content.slice(from as number, to as number),
  );
  assert.deepEqual(cited, ['Perl', 'Ruby']);
});

test('arguments of calls that come in turns stay with their calls', async () => {
  const call = (index: number, type: string, tool_calls: object) =>
    pieceOf(type, { index, delta: { message: { tool_calls } } });
  const named = (name: string) => ({ id: name, type: 'function', function: { name } });
  const more = (text: string) => ({ function: { arguments: text } });
  const events = await read([
    call(0, 'tool-call-start', named('f')),
    call(1, 'tool-call-start', named('g')),
    call(0, 'tool-call-delta', more('{"q":1}')),
    call(1, 'tool-call-delta', more('{"q":2}')),
    end('TOOL_CALL'),
  ]);
  const called = events.flatMap((event) =>
    event.type === 'tool-call-start'
      ? [event.name]
      : event.type === 'tool-call-delta'
        ? [event.text]
        : [],
  );
  assert.deepEqual(called, ['f', '{"q":1}', 'g', '{"q":2}']);
});

test('whatever a host sends is read without an exception, and an error stays what it is', async () => {
  const types =
    'message-start content-start content-delta tool-plan-delta tool-call-start tool-call-delta citation-start message-end';
  const part = fc.oneof(fc.jsonValue(), fc.record({ text: fc.string(), thinking: fc.jsonValue() }));
  const message = fc.record(
    {
      content: part,
      tool_plan: fc.jsonValue(),
      tool_calls: part,
      citations: fc.record({ sources: fc.array(fc.jsonValue()) }),
    },
    { requiredKeys: [] },
  );
  const event = fc.tuple(fc.constantFrom(...types.split(' ')), fc.oneof(message, fc.jsonValue()));
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 8 }), fc.jsonValue(), async (events, body) => {
      const pieces = events.map(([type, inner]) => pieceOf(type, { delta: { message: inner } }));
      const whole = await read(pieces);
      assert.deepEqual(await read([Buffer.concat(pieces)]), whole);
      const isAnswer = isObject(body) && isObject(body.message);
      if (!isAnswer) assert.equal(asCompletion(body), body);
      asCompletion({ message: events[0]?.[1] });
    }),
    { numRuns: 300 },
  );
});
