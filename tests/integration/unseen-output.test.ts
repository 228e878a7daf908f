// Output that a provider may have generated unseen is charged by the length of its silence, unless
// the provider reports its usage or refused the request.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { pairPrices } from '../support/pairs.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock, flushEventLoop } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText } from '../support/upstream.ts';

const readOnMs = 5_000;
const chatPath = '/v1/chat/completions';
const geminiPath = '/v1beta/models/upstream-model:streamGenerateContent';

const clock = new TestClock();
let gateway: TestGateway<RunningApp>;
before(async () => {
  const thinker = (route: object) => ({
    routes: [{ ...route, model: 'upstream-model' }],
    max_input_tokens: 100_000,
    max_output_tokens: 8_000,
    supports: { thinking: true },
    prices: pairPrices,
  });
  const plain = (route: object) => ({ ...thinker(route), supports: { thinking: false } });
  const models = {
    'plain-chat': plain({ provider: 'openai', api: 'chat' }),
    'plain-gemini': plain({ provider: 'google' }),
    'plain-messages': plain({ provider: 'anthropic' }),
    'plain-responses': plain({ provider: 'openai', api: 'responses' }),
    'think-chat': thinker({ provider: 'openai', api: 'chat' }),
    'think-gemini': thinker({ provider: 'google' }),
    'think-responses': thinker({ provider: 'openai', api: 'responses' }),
  };
  gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
});
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

async function leave(
  request: { destroy: () => void },
  meanwhile: () => void = () => {},
): Promise<void> {
  request.destroy();
  await until(() => clock.dueIn(readOnMs) >= 1);
  meanwhile();
  await flushEventLoop();
  await clock.advance(readOnMs);
  await until(() => gateway.program.app.gateway.runs.count === 0);
}

async function chargedTokens(key: string): Promise<number[]> {
  const records = await gateway.usage<{ output_tokens: number }>(key);
  return records.map((record) => record.output_tokens);
}

test('usage reported so far is charged as reported; only the silence after it is charged by time', async () => {
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
  await leave(request);
  // "begin" is two tokens, and five seconds are 500.
  assert.deepEqual(await chargedTokens(key), [502]);
});

test('the silence of a model that may be writing a call is charged, because many hosts send calls whole', async () => {
  const paths = {
    'plain-chat': chatPath,
    'plain-gemini': geminiPath,
    'plain-messages': '/v1/messages',
    'plain-responses': '/v1/responses',
  };
  const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
  for (const [model, path] of Object.entries(paths)) {
    for (const tools of [[tool], undefined]) {
      const { key, request } = await askSilent(path, {
        model,
        stream: true,
        silentMs: 30_000,
        ...(tools && { tools }),
      });
      await leave(request);
      assert.deepEqual(await chargedTokens(key), [tools ? 3_500 : 0], model);
    }
  }
});

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
    await leave(request, () =>
      answer.writeHead(503, { 'content-type': 'application/json' }).write('{"error":'),
    );
    assert.deepEqual(await chargedTokens(key), []);
    const { availableMicros, heldMicros } = await gateway.balance(account);
    assert.deepEqual([availableMicros, heldMicros], [5_000_000, 0]);
  }
});
