// Answers that no provider would give: the client is told of a failure in its own format, and is not charged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { streamFrames } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { checkStream } from '../support/stream-rules.ts';
import { answerJson, framesText } from '../support/upstream.ts';

const upstreamPath = '/local/v1/chat/completions';

/** Deeper than V8 can write. */
const deepValue = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

let gateway: TestGateway;
let key: string;
let account: string;

before(async () => {
  const model = {
    routes: [{ provider: 'local', model: 'm' }],
    max_input_tokens: 100_000,
    max_output_tokens: 10_000,
    prices: { input: 1, output: 1 },
  };
  gateway = await startGateway({
    models: { 'on-chat': model },
  });
  ({ key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 10 }));
});
after(() => gateway.stop());

test('a chunk nested so deep that it could not be written again is a failure, and free', async () => {
  const deep = `{"choices":[{"index":0,"delta":{"content":"x","odd":${deepValue}}}]}`;
  const { start, deltas } = streamFrames('chat', { text: 'Hello there', tokens: null });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  gateway.upstream.on(upstreamPath, async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas]));
    await begun;
    response.end(framesText([{ data: deep }]));
  });
  const { path, body } = endpoint('chat');
  const { postedMicros } = await gateway.balance(account);
  const response = await gateway.open(path, { key, body: body({ model: 'on-chat', stream: true }) }).response;
  assert.equal(response.statusCode, 200);
  begin();
  const text = Buffer.concat(await response.toArray()).toString('utf8');
  assert.equal(checkStream('chat', text, { straight: true }).ending, 'error');
  assert.equal((await gateway.balance(account)).postedMicros, postedMicros);
});

test('arguments nested so deep that they could not be written again reach a client of Messages as text', async () => {
  const text = `{"a":${deepValue}}`;
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: text } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
  gateway.upstream.on(upstreamPath, answerJson({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }));
  const { path, body } = endpoint('messages');
  const reply = await gateway.post(path, { key, body: body({ model: 'on-chat' }) });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(readPlainly('messages', false, reply.text).calls, [{ name: 'look', arguments: text }]);
});
