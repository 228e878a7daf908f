import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import { clientRequest, upstreamTarget } from '../../../tests/support/formats/messages.ts';
import { messages } from './index.ts';

const safeguards = [
  {
    type: 'dangerous_tool_use',
    classifier_context: { v: 1, live_cwd: '/home/me', rules: [{ type: 'allow', content: 'x' }] },
  },
];
const unsupported = [{ type: 'dangerous_tool_use', status: { type: 'unsupported' } }];
const verdicts = [
  { type: 'dangerous_tool_use', status: { type: 'available', tool_uses: { toolu_1: {} } } },
];
const request = clientRequest({ safeguards });
const context = {
  requestId: '1',
  model: 'm',
  createdAtSeconds: 0,
  request,
  estimatedInputTokens: 1,
};
const whole = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

test('the question passes to Claude as it came, and is left out for other models and listed', () => {
  const { relay } = messages;
  const sent = relay.writeRequest(request, upstreamTarget({ model: 'claude-opus-5' }));
  assert.deepEqual([sent.body.safeguards, sent.ignored], [safeguards, []]);
  const other = relay.writeRequest(request, upstreamTarget({ model: 'kimi-k3' }));
  assert.deepEqual([other.body.safeguards, other.ignored], [undefined, ['safeguards']]);
  assert.deepEqual(messages.ignoredFields!(request), ['safeguards']);
});

test('verdicts come back untouched, and none is invented', () => {
  const resultsOf = (body: JsonObject) =>
    messages.relay.relayAnswer(body, context).body.safeguard_results;
  assert.deepEqual(resultsOf({ ...whole, safeguard_results: verdicts }), verdicts);
  assert.deepEqual(resultsOf(whole), unsupported);
  assert.deepEqual(resultsOf({ ...whole, safeguard_results: null }), unsupported);
  const written = messages.writeAnswer(
    {
      content: [{ type: 'text', text: 'Hello' }],
      stop: { reason: 'end', sequence: null },
      usage: null,
    },
    context,
  );
  assert.deepEqual(written.safeguard_results, unsupported);
  const unasked = { ...context, request: clientRequest() };
  assert.ok(!('safeguard_results' in messages.relay.relayAnswer(whole, unasked).body));
});

test('a stream has the verdicts in its last delta', () => {
  const lastDeltaOf = (frames: string) =>
    JSON.parse(/^data: (.*"message_delta".*)$/m.exec(frames)![1]!).delta.safeguard_results;
  const relayed = (...deltas: object[]) => {
    const stream = messages.relay.relayStream(context);
    const push = (data: { type: string }) =>
      stream.push({ event: data.type, data: JSON.stringify(data) });
    push({ type: 'message_start', message: { ...whole, content: [] } } as { type: string });
    for (const delta of deltas)
      push({ type: 'message_delta', delta, usage: { output_tokens: 1 } } as { type: string });
    push({ type: 'message_stop' });
    return lastDeltaOf(stream.close(0));
  };
  const end = { stop_reason: 'end_turn', stop_sequence: null };
  assert.deepEqual(relayed({ ...end, safeguard_results: verdicts }), verdicts);
  assert.deepEqual(relayed(end), unsupported);
  assert.deepEqual(relayed(), unsupported);
  assert.deepEqual(relayed({ safeguard_results: verdicts }, end), verdicts);
  assert.deepEqual(relayed(end, { safeguard_results: verdicts }), verdicts);
  const written = messages.writeStream(context);
  written.push({ type: 'finish', stop: { reason: 'end', sequence: null }, usage: null });
  assert.deepEqual(lastDeltaOf(written.close(0)), unsupported);
});
