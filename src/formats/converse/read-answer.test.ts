import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnreadableAnswer } from '../format.ts';
import { converse } from './index.ts';

const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };

function answer(stopReason: string, more: object = {}, content: object[] = [{ text: 'a' }]) {
  return { output: { message: { role: 'assistant', content } }, stopReason, usage, ...more };
}

const stopOf = (body: object) => converse.readAnswer(body).stop.reason;

test('each reason to stop is read as its own', () => {
  const reasons = {
    end_turn: 'end',
    tool_use: 'tool-calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    stop_sequence: 'stop-sequence',
    content_filtered: 'content-filter',
    something_new: 'end',
  };
  for (const [reason, stop] of Object.entries(reasons)) assert.equal(stopOf(answer(reason)), stop);
  for (const reason of ['malformed_model_output', 'malformed_tool_use'])
    assert.throws(() => stopOf(answer(reason)), UnreadableAnswer);
});

test('a guardrail that only masked words leaves an ordinary answer, one that blocked does not', () => {
  const trace = (action: string) => ({
    trace: { guardrail: { outputAssessments: { g: [{ policy: { matches: [{ action }] } }] } } },
  });
  assert.equal(stopOf(answer('guardrail_intervened', trace('ANONYMIZED'))), 'end');
  assert.equal(stopOf(answer('guardrail_intervened', trace('BLOCKED'))), 'content-filter');
  assert.equal(stopOf(answer('guardrail_intervened')), 'content-filter');
});

test('cache reads and writes stand beside the input, and long writes are told apart', () => {
  const counts = {
    ...usage,
    cacheReadInputTokens: 10,
    cacheWriteInputTokens: 30,
    cacheDetails: [
      { ttl: '5m', inputTokens: 20 },
      { ttl: '1h', inputTokens: 10 },
    ],
  };
  assert.deepEqual(converse.readAnswer(answer('end_turn', { usage: counts })).usage, {
    inputTokens: 5,
    cacheReadTokens: 10,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 10,
    outputTokens: 7,
    reasoningTokens: 0,
  });
});

test('reasoning keeps its signature, also when it is hidden', () => {
  const { content } = converse.readAnswer(
    answer('end_turn', {}, [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } },
      { reasoningContent: { redactedContent: Buffer.from('cipher').toString('base64') } },
      { reasoningContent: { redactedContent: '' } },
      { text: 'Yes.' },
    ]),
  );
  const signed = (value: string) => ({ vendor: 'anthropic', value });
  assert.deepEqual(content, [
    { type: 'thinking', text: 'Hm.', signature: signed('s'), redacted: false },
    { type: 'thinking', text: '', signature: signed('cipher'), redacted: true },
    { type: 'text', text: 'Yes.' },
  ]);
});

test('what is no answer is not read, but its cost is', () => {
  for (const body of [null, {}, { output: {} }, { message: 'Too many requests' }])
    assert.throws(() => converse.readAnswer(body), UnreadableAnswer);
  assert.equal(converse.readBilledAnswer({ message: 'no' }), null);
  const call = { toolUse: { toolUseId: 'a', name: '', input: {} } };
  const broken = answer('tool_use', {}, [call]);
  assert.throws(() => converse.readAnswer(broken), UnreadableAnswer);
  assert.equal(converse.readBilledAnswer(broken)!.usage!.outputTokens, 7);
});

test('a call without arguments has an empty object in a stream, too', () => {
  const reader = converse.readStream();
  const push = (event: string, data: object) => reader.push({ event, data: JSON.stringify(data) });
  const call = { toolUse: { toolUseId: 'a', name: 'f' } };
  push('contentBlockStart', { contentBlockIndex: 0, start: call });
  assert.deepEqual(push('contentBlockStop', { contentBlockIndex: 0 }), [
    { type: 'tool-call-delta', text: '{}' },
    { type: 'tool-call-end' },
  ]);
});

test('what follows the stop reason of a stream is no part of the answer, except for its usage', () => {
  const reader = converse.readStream();
  const push = (event: string, data: object) => reader.push({ event, data: JSON.stringify(data) });
  push('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'a' } });
  push('messageStop', { stopReason: 'end_turn' });
  assert.deepEqual(push('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'b' } }), []);
  assert.deepEqual(push('messageStop', { stopReason: 'malformed_model_output' }), []);
  push('metadata', { usage });
  const [finish] = reader.end();
  assert.ok(finish?.type === 'finish' && finish.stop.reason === 'end');
  assert.equal(finish.usage!.outputTokens, 7);
});
