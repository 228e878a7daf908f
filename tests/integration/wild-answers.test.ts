// Answers that no provider would give, through the started program: the client is told of a failure in its own format, is not charged, and
// the program's memory does not grow with what it throws away.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { streamFrames } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { canMeasure, residentBytes } from '../support/process-memory.ts';
import { checkStream } from '../support/stream-rules.ts';
import { answerJson, answerSse, type SseFrame } from '../support/upstream.ts';
import type { Program } from '../support/program.ts';

const upstreams = {
  chat: { route: { provider: 'local', model: 'm' }, path: '/local/v1/chat/completions' },
  responses: { route: { provider: 'openai', model: 'm', api: 'responses' }, path: '/v1/responses' },
  messages: { route: { provider: 'anthropic', model: 'm' }, path: '/v1/messages' },
} as const;

/** Deeper than V8 can write. */
const deepValue = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

let gateway: TestGateway<Program>;
let key: string;
let account: string;

before(async () => {
  const model = (route: object) => ({
    routes: [route],
    max_input_tokens: 100_000,
    max_output_tokens: 10_000,
    prices: { input: 1, output: 1 },
  });
  gateway = await startGatewayProgram({
    models: Object.fromEntries(Object.entries(upstreams).map(([name, { route }]) => [`on-${name}`, model(route)])),
  });
  ({ key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 10 }));
});
after(() => gateway.stop());

test('a chunk nested so deep that it could not be written again is a failure, and free', async () => {
  const deep = `{"choices":[{"index":0,"delta":{"content":"x","odd":${deepValue}}}]}`;
  const { start, deltas } = streamFrames('chat', { text: 'Hello there', tokens: null });
  gateway.upstream.on(upstreams.chat.path, answerSse([...start, ...deltas, { data: deep }], { paceMs: 50 }));
  const { path, body } = endpoint('chat');
  const { postedMicros } = await gateway.balance(account);
  const reply = await gateway.post(path, { key, body: body({ model: 'on-chat', stream: true }) });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(checkStream('chat', reply.text, { straight: true }).ending, 'error');
  assert.equal((await gateway.balance(account)).postedMicros, postedMicros);
});

test('arguments nested so deep that they could not be written again reach a client of Messages as text', async () => {
  const text = `{"a":${deepValue}}`;
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: text } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
  gateway.upstream.on(upstreams.chat.path, answerJson({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }));
  const { path, body } = endpoint('messages');
  const reply = await gateway.post(path, { key, body: body({ model: 'on-chat' }) });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(readPlainly('messages', false, reply.text).calls, [{ name: 'look', arguments: text }]);
});

const pairs = [
  ['chat', 'messages'],
  ['responses', 'chat'],
  ['messages', 'responses'],
] as const;

for (const [upstream, client] of pairs) {
  test(`a hundred megabytes that say nothing are not kept: ${upstream} to ${client}`, async (t) => {
    if (!canMeasure) return t.skip('memory is only measured where /proc tells it');
    const { start, deltas, end } = streamFrames(upstream, { text: 'Hello there', tokens: { input: 5, output: 2 } });
    const junk: SseFrame = { event: 'ping', data: { type: 'ping', choices: [], odd: 'x'.repeat(10_000) } };
    const frames = [...start, ...Array.from({ length: 10_000 }, () => junk), ...deltas, ...end];
    gateway.upstream.on(upstreams[upstream].path, answerSse(frames));
    const { path, body } = endpoint(client);
    const startBytes = residentBytes(gateway.program.pid);
    const reply = await gateway.post(path, { key, body: body({ model: `on-${upstream}`, stream: true }) });
    assert.deepEqual(checkStream(client, reply.text), { ending: 'success', text: 'Hello there' });
    const grownBytes = residentBytes(gateway.program.pid) - startBytes;
    assert.ok(grownBytes < 80_000_000, `the program has grown by ${Math.round(grownBytes / 1e6)} MB`);
  });
}
