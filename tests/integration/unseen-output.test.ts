// Output that nobody can see is read to its end when its client has left, and charged as the provider
// counts it. A provider that hangs costs the client nothing. Only a stream that is stopped after a
// silence is estimated, by the length of the silence.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { streamFrames, wholeAnswer, type UpstreamWireName } from '../support/answers.ts';
import { addressed, clients, endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { pairPrices } from '../support/pairs.ts';
import { TestClock, flushEventLoop } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText } from '../support/upstream.ts';

const readOnMs = 5_000;
const totalMs = 120_000;
const chatPath = '/v1/chat/completions';
const geminiPath = '/v1beta/models/upstream-model:streamGenerateContent';

const clock = new TestClock();
const terms = { timeouts: { total_ms: totalMs }, prices: pairPrices };
const thinker = (route: object) =>
  modelOf([{ ...route, model: 'upstream-model' }], { supports: { thinking: true }, ...terms });
const unthinking = (route: object) => ({ ...thinker(route), supports: { thinking: false } });
const models = {
  'plain-chat': unthinking({ provider: 'openai', api: 'chat' }),
  'plain-gemini': unthinking({ provider: 'google' }),
  'plain-messages': unthinking({ provider: 'anthropic' }),
  'plain-responses': unthinking({ provider: 'openai', api: 'responses' }),
  'think-chat': thinker({ provider: 'openai', api: 'chat' }),
  'think-gemini': thinker({ provider: 'google' }),
  'think-responses': thinker({ provider: 'openai', api: 'responses' }),
};
const gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
after(() => gateway.stop());

type Silence = {
  readonly model: string;
  readonly stream: boolean;
  readonly silentMs: number;
  readonly tools?: readonly object[];
};

/** Calls a model that stays silent for this long before the test answers. */
async function askSilent(path: string, { model, stream, silentMs, ...fields }: Silence) {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const asked = Promise.withResolvers<ServerResponse>();
  gateway.upstream.on(path, (response) => asked.resolve(response));
  const client = endpoint(model === 'think-responses' ? 'responses' : 'chat');
  const body = client.body({ model, stream, [client.limitField]: 8_000, ...fields });
  const { request, response } = gateway.open(client.path, { key, body });
  response.catch(() => {});
  const answer = await asked.promise;
  await clock.advance(silentMs);
  return { key, account, request, response, answer };
}

/** Leaves, and waits until the gateway would have stopped a stream whose output is visible. */
async function leave(
  request: { destroy: () => void },
  { stream }: { readonly stream: boolean },
): Promise<void> {
  request.destroy();
  if (stream) await until(() => clock.dueIn(readOnMs) >= 1);
  await clock.advance(readOnMs);
}

async function untilIdle(): Promise<void> {
  await until(() => gateway.program.app.gateway.runs.count === 0);
}

async function chargedTokens(key: string): Promise<number[]> {
  const records = await gateway.usage<{ output_tokens: number }>(key);
  return records.map((record) => record.output_tokens);
}

const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
/** Calls whose output is hidden until the end. */
const hiddenCalls = [
  { model: 'plain-chat', stream: false, path: chatPath, wire: 'chat' },
  { model: 'plain-chat', stream: true, tools: [tool], path: chatPath, wire: 'chat' },
  { model: 'plain-messages', stream: true, tools: [tool], path: '/v1/messages', wire: 'messages' },
  {
    model: 'plain-responses',
    stream: true,
    tools: [tool],
    path: '/v1/responses',
    wire: 'responses',
  },
  { model: 'plain-gemini', stream: true, tools: [tool], path: geminiPath, wire: 'gemini' },
  { model: 'think-responses', stream: true, path: '/v1/responses', wire: 'responses' },
  { model: 'think-chat', stream: false, path: chatPath, wire: 'chat' },
] as const;

const counted = { text: 'done', tokens: { input: 100, output: 3_000 } };

test('hidden output is read on when its client has left, and costs what the provider counts', async () => {
  for (const { path, wire, ...call } of hiddenCalls) {
    const { key, request, answer } = await askSilent(path, { ...call, silentMs: 20_000 });
    const { start, deltas, end } = streamFrames(wire, counted);
    if (call.stream)
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(framesText(start));
    await flushEventLoop();
    await leave(request, call);
    await clock.advance(60_000);
    assert.equal(answer.destroyed, false, `${call.model}: it is read on`);
    if (call.stream) answer.end(framesText([...deltas, ...end]));
    else answer.setHeader('content-type', 'application/json').end(wholeText(wire));
    await untilIdle();
    assert.deepEqual(await chargedTokens(key), [3_000], call.model);
  }
});

function wholeText(wire: UpstreamWireName): string {
  return JSON.stringify(wholeAnswer(wire, counted));
}

test('a provider that hangs costs a client that gives up nothing', async () => {
  const plain = { model: 'plain-chat', stream: true, path: chatPath, wire: 'chat' } as const;
  for (const { path, wire: _, ...call } of [plain, ...hiddenCalls]) {
    const { key, account, request, answer } = await askSilent(path, { ...call, silentMs: 20_000 });
    await leave(request, call);
    await clock.advance(totalMs);
    await untilIdle();
    assert.equal(answer.destroyed, true, `${call.model}: its time is limited`);
    assert.deepEqual(await chargedTokens(key), [], call.model);
    await gateway.assertLeft(account, 5_000_000, call.model);
  }
});

test('a stream that is visible again after a silence is stopped; the silence counts by its length', async () => {
  const { key, request, response, answer } = await askSilent(geminiPath, {
    model: 'think-gemini',
    stream: true,
    silentMs: 30_000,
  });
  const candidates = [{ content: { role: 'model', parts: [{ text: 'begin' }] }, index: 0 }];
  const usageMetadata = {
    promptTokenCount: 100,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 15,
    totalTokenCount: 120,
  };
  answer
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .write(framesText([{ data: { candidates, usageMetadata } }]));
  let text = '';
  (await response).on('data', (data: Buffer) => (text += data.toString())).on('error', () => {});
  await until(() => text.includes('begin'));
  await leave(request, { stream: true });
  await clock.advance(4_000);
  // Nine seconds of silence are 900 tokens. Then the model shows what it writes, and is stopped.
  let pieces = 1;
  for (; !answer.destroyed; pieces++) {
    answer.write(framesText([{ data: { candidates } }]));
    await flushEventLoop();
    await clock.advance(500);
  }
  await untilIdle();
  const [tokens] = await chargedTokens(key);
  // "begin" is two tokens; the last pieces may not have arrived.
  assert.ok(tokens! >= 900 && tokens! <= 902 + 2 * pieces, `${tokens} tokens, ${pieces} pieces`);
  assert.ok(pieces < 20, 'it is stopped');
});

/** 50 tokens: two a second are the speed of a route that was not measured yet. */
const piece = ' begin it'.repeat(25).slice(0, 200);

for (const client of clients) {
  test(`a ${client.name} client that leaves pays for the silence before a text that its host opened at once`, async () => {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const asked = Promise.withResolvers<ServerResponse>();
    gateway.upstream.on('/v1/responses', (response) => asked.resolve(response));
    const { path, body } = addressed(
      client,
      client.body({ model: 'think-responses', stream: true, [client.limitField]: 8_000 }),
    );
    const { request, response } = gateway.open(path, { key, body });
    const answer = await asked.promise;
    const { start, deltas } = streamFrames('responses', { text: piece, tokens: null });
    answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(framesText(start));
    await flushEventLoop();
    await clock.advance(30_000);
    answer.write(framesText(deltas));
    let text = '';
    (await response).on('data', (data: Buffer) => (text += data.toString())).on('error', () => {});
    await until(() => text.includes('begin'));
    request.destroy();
    let pieces = 1;
    for (; !answer.destroyed; pieces++) {
      answer.write(framesText(deltas));
      await flushEventLoop();
      await clock.advance(500);
    }
    await untilIdle();
    const [tokens] = await chargedTokens(key);
    // Thirty seconds at a hundred tokens a second, or a little more where it was measured.
    assert.ok(tokens! >= 3_000 && tokens! <= 4_000 + 50 * pieces, `${tokens} tokens`);
  });
}

test('a failure with usage is a loss of that usage, however long it took', async () => {
  const { account, response, answer } = await askSilent('/v1/responses', {
    model: 'think-responses',
    stream: true,
    silentMs: 30_000,
  });
  const error = { code: 'server_error', message: 'it broke down' };
  const failed = {
    id: 'r',
    status: 'failed',
    error,
    usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
    output: [],
  };
  answer
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(
      framesText([
        { event: 'response.failed', data: { type: 'response.failed', response: failed } },
      ]),
    );
  (await response).resume();
  const entries = gateway.database.read
    .selectFrom('entries')
    .select('loss_micros')
    .where('ledger_id', '=', `${account}:live`);
  const ended = await until(() => entries.where('kind', '=', 'release').executeTakeFirst());
  assert.equal(ended.loss_micros, 100 * pairPrices.input + 20 * pairPrices.output);
});

test('a client that leaves pays nothing for a request that the provider refuses, however slowly', async () => {
  for (const stream of [false, true]) {
    const { key, account, request, answer } = await askSilent(chatPath, {
      model: 'think-chat',
      stream,
      silentMs: 3_000,
    });
    await leave(request, { stream });
    answer.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{}}');
    await untilIdle();
    assert.deepEqual(await chargedTokens(key), []);
    await gateway.assertLeft(account, 5_000_000);
  }
});
