import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../tests/support/canonical/answers.ts';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { noUsage, type Usage } from '../../canonical/usage.ts';
import {
  blockDelta,
  blockStart,
  blockStop,
  runReader,
} from '../../../tests/support/formats/messages.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { readAnswer } from './read-answer.ts';
import { readStream } from './read-stream.ts';

const read = (...events: unknown[]): StreamEvent[] =>
  runReader(
    readStream(),
    parseSse(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
  );
const start = { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } };
const end = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 4 },
};
const stop = { type: 'message_stop' };
const call = { type: 'tool_use', id: 'a', name: 'b', input: {} };
/** The events between the start and the finish. */
const blocks = (...events: unknown[]) => read(start, ...events, end, stop).slice(1, -1);

test('the start has the input count, and the finish has both', () => {
  const events = read(start, end, stop);
  const counts = events.map((event) =>
    'usage' in event ? [event.usage?.inputTokens, event.usage?.outputTokens] : null,
  );
  assert.deepEqual(counts, [
    [9, 0],
    [9, 4],
  ]);
});

test('blocks of tools that the provider ran, malformed citations, pings and new events are ignored', () => {
  const events = blocks(
    { type: 'ping' },
    { type: 'brand_new' },
    blockStart({ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }),
    blockDelta({ type: 'input_json_delta', partial_json: '{}' }),
    blockStop(),
    blockStart({ type: 'web_search_tool_result', content: [] }, 1),
    blockStop(1),
    blockStart(textPart(''), 2),
    blockDelta({ type: 'citations_delta', citation: {} }, 2),
    blockDelta({ type: 'text_delta', text: 'x' }, 2),
    blockStop(2),
  );
  assert.deepEqual(events, [
    { type: 'text-start' },
    { type: 'text-delta', text: 'x' },
    { type: 'text-end' },
  ]);
});

test('no text is lost when a host leaves out starts and ends of blocks', () => {
  assert.deepEqual(
    blocks(
      blockDelta({ type: 'thinking_delta', thinking: 'a' }),
      blockDelta({ type: 'text_delta', text: 'b' }),
      blockStart(call, 1),
    ),
    [
      { type: 'thinking-start', redacted: false },
      { type: 'thinking-delta', text: 'a' },
      { type: 'thinking-end' },
      { type: 'text-start' },
      { type: 'text-delta', text: 'b' },
      { type: 'text-end' },
      { type: 'tool-call-start', id: 'a', name: 'b', kind: 'function' },
      { type: 'tool-call-delta', text: '{}' },
      { type: 'tool-call-end' },
    ],
  );
});

const once = { input_tokens: 5, output_tokens: 1 };
const split = {
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 50 },
  cache_creation_input_tokens: 50,
};
const both = { inputTokens: 5, outputTokens: 9 };
/** The usage in the first and in the last event, and what is read. */
const usages: Record<string, [first: unknown, last: unknown, read: Partial<Usage> | null]> = {
  'the end leaves out the input': [once, { output_tokens: 9 }, both],
  'only the end counts': [
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 5, output_tokens: 9 },
    both,
  ],
  'the end counts 0 again': [once, { input_tokens: 0, output_tokens: 9 }, both],
  'the end counts other cache writes': [
    { ...once, ...split },
    { output_tokens: 9, cache_creation_input_tokens: 80 },
    { ...both, cacheWrite1hTokens: 80 },
  ],
  'nothing is counted': [
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 0, output_tokens: 0 },
    null,
  ],
  'the start has none': [undefined, { output_tokens: 9 }, { outputTokens: 9 }],
  'the end has none': [once, undefined, { inputTokens: 5 }],
  'a negative count': [{ ...once, input_tokens: -5 }, { output_tokens: 9 }, { outputTokens: 9 }],
  'the end tells that input was cached, as Alibaba counts': [
    { input_tokens: 3_602, output_tokens: 0 },
    { cache_creation_input_tokens: 0, cache_read_input_tokens: 3_504, output_tokens: 878 },
    { inputTokens: 98, cacheReadTokens: 3_504, outputTokens: 878 },
  ],
  'the start tells of the cached part of the input in Kimi’s words': [
    { input_tokens: 230, cache_read_input_tokens: 0, cached_tokens: 200 },
    { output_tokens: 9, cache_read_input_tokens: 0, cached_tokens: 200 },
    { inputTokens: 30, cacheReadTokens: 200, outputTokens: 9 },
  ],
  'the start alone tells of it in Kimi’s words': [
    { input_tokens: 230, cached_tokens: 200 },
    { input_tokens: 230, output_tokens: 9 },
    { inputTokens: 30, cacheReadTokens: 200, outputTokens: 9 },
  ],
  'the end alone tells of it in Kimi’s words, without the input': [
    { input_tokens: 230, cached_tokens: 0 },
    { cached_tokens: 200, output_tokens: 9 },
    { inputTokens: 30, cacheReadTokens: 200, outputTokens: 9 },
  ],
  'the end tells of it in Kimi’s words': [
    { input_tokens: 230, output_tokens: 0 },
    { input_tokens: 230, cached_tokens: 200, output_tokens: 9 },
    { inputTokens: 30, cacheReadTokens: 200, outputTokens: 9 },
  ],
};

for (const [name, [first, last, expected]] of Object.entries(usages)) {
  test(`the usage of a stream is its last totals: ${name}`, () => {
    const begun = { type: 'message_start', message: { usage: first } };
    const finish = read(begun, { ...end, usage: last }, stop).at(-1);
    assert.ok(finish?.type === 'finish');
    assert.deepEqual(finish.usage, expected && { ...noUsage, ...expected });
  });
}

test('a second answer in the stream fails it', () => {
  const text = [blockStart(textPart('')), blockDelta({ type: 'text_delta', text: 'x' })];
  const events = read(start, ...text, start, ...text, blockStop(), end, stop);
  assert.match(failureOf(events), /starts a second time/);
  assert.match(failureOf(read(start, ...text.flatMap((event) => [event, event]))), /second time/);
  const named = { ...start, message: { ...start.message, id: 'msg_1' } };
  const whole = [...text, blockStop(), end, stop];
  assert.deepEqual(read(named, named, ...whole), read(named, ...whole));
});

test('a call without a name is unreadable', () => {
  const data = JSON.stringify(blockStart({ ...call, name: '' }));
  const last = readStream().push({ event: '', data }).at(-1);
  assert.ok(last?.type === 'error');
  assert.equal(last.failure.kind, 'unreadable');
  assert.equal(last.failure.isBilled, true);
});

test('an event without a type gets it from its event line', () => {
  const reader = readStream();
  reader.push({ event: 'message_delta', data: '{"delta":{"stop_reason":"end_turn"}}' });
  assert.equal(reader.push({ event: 'message_stop', data: '{}' }).at(-1)?.type, 'finish');
});

test('the explanation of a refusal becomes its text, whole and streamed', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'This could do harm.' };
  const refused = {
    type: 'message_delta',
    delta: { stop_reason: 'refusal', stop_details: details },
    usage: { output_tokens: 4 },
  };
  assert.deepEqual(read(start, refused, stop).slice(1, -1), [
    { type: 'refusal-start' },
    { type: 'refusal-delta', text: 'This could do harm.' },
    { type: 'refusal-end' },
  ]);
  const whole = readAnswer({ content: [], stop_reason: 'refusal', stop_details: details });
  assert.deepEqual(whole.content, [{ type: 'refusal', text: 'This could do harm.' }]);
  assert.equal(whole.stop.reason, 'refusal');
  const silent = { ...details, explanation: null };
  assert.deepEqual(
    readAnswer({ content: [], stop_reason: 'refusal', stop_details: silent }).content,
    [],
  );
});
