// What is stored about each request for an account's activity page: details of charged ones, on
// both stores.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  findLogged,
  listUncharged,
  readKeyUses,
  readProviders,
  sumActivity,
} from '../../src/domain/activity/queries.ts';
import { ledgerIdOf } from '../../src/domain/ledger/commands.ts';
import { listCharges } from '../../src/domain/ledger/reports/queries.ts';
import { answerContent } from '../support/answers.ts';
import { columnOf } from '../support/column-of.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Tuning } from '../../src/config/tuning.ts';
import { TestClock } from '../support/test-clock.ts';
import { whileTimePasses } from '../support/until.ts';
import { answerStatus, startUpstream } from '../support/upstream.ts';

const prices = { input: 1, output: 10 };
const limits = { max_input_tokens: 100_000, max_output_tokens: 8_000, prices };
const routes = [{ provider: 'openai', model: 'm', api: 'chat' }];
const chat = endpoints.find(({ name }) => name === 'chat')!;
const answer = answerContent('chat', { text: 'An answer.', tokens: { input: 10, output: 3 } });

async function start(t: TestContext, more: object = {}, tuning: Partial<Tuning> = {}) {
  const clock = new TestClock();
  const config = { models: { priced: { ...limits, routes } }, retries: { max_attempts: 3 } };
  const tuned = { backoffMs: 1, retriesMin: 10, ...tuning };
  const gateway = await startGateway({ ...config, ...more }, { clock, tuning: tuned });
  t.after(() => gateway.stop());
  const { read } = gateway.database;
  const made = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { key, account } = made;
  return {
    clock,
    gateway,
    read,
    made,
    ask: (fields: object, headers: Record<string, string> = {}) =>
      gateway.post(chat.path, { key, headers, body: chat.body({ model: 'priced', ...fields }) }),
    logged: async (requestId: string) => {
      await gateway.program.app.gateway.observe.activity.flush();
      const found = await findLogged(read, { accountId: account, requestIds: [requestId] });
      return found.get(requestId)!;
    },
    sums: () => {
      const toDay = new Date(clock.nowMs()).toISOString().slice(0, 10);
      const days = { fromDay: '2020-01-01', toDay };
      return sumActivity(read, { accountId: account, mode: 'live', ...days, by: 'model' });
    },
  };
}

test('a charge stores the number of upstream calls, the duration and the time to the first byte', async (t) => {
  const { clock, gateway, read, made, ask } = await start(t);
  gateway.upstream.on(chat.upstreamPath, answerStatus(500), answer);
  const whole = await whileTimePasses(clock, ask({ stream: false }));
  const streamed = await whileTimePasses(clock, ask({ stream: true }));
  const ledgerId = ledgerIdOf(made.account, 'live');
  const { charges } = await listCharges(read, { ledgerId, limit: 9, cursor: null });
  const [later, earlier] = charges;
  assert.deepEqual(columnOf(charges, 'id'), [streamed.requestId, whole.requestId]);
  assert.deepEqual([earlier?.attempts, earlier?.firstByteMs], [2, null]);
  assert.equal(later?.attempts, 1);
  for (const { durationMs } of charges)
    assert.ok(Number.isSafeInteger(durationMs), String(durationMs));
  const { firstByteMs, durationMs } = later;
  assert.ok(firstByteMs !== null && firstByteMs <= durationMs!, `${firstByteMs} ms`);
});

test('the history has each call to a provider, and no words of a provider', async (t) => {
  const { clock, gateway, read, ask: send, logged } = await start(t);
  const ask = async (stream: boolean) =>
    logged((await whileTimePasses(clock, send({ stream }))).requestId);
  const quoting = answerStatus(400, { body: { error: { message: 'bad prompt: s3cret words' } } });
  gateway.upstream.on(chat.upstreamPath, answerStatus(503), answer);
  const served = await ask(true);
  const tries = served.notes.tries?.map((one) => ({ ...one, ms: 0 }));
  assert.deepEqual(tries, [
    { provider: 'openai', model: 'm', ending: 'failed', failure: 'status', status: 503, ms: 0 },
    { provider: 'openai', model: 'm', ending: 'answered', failure: null, status: null, ms: 0 },
  ]);
  assert.deepEqual([served.outcome, served.notes.finish], ['charged', 'end']);
  gateway.upstream.on(chat.upstreamPath, quoting);
  const refused = await ask(false);
  assert.deepEqual([refused.code, refused.notes.errorMessage], ['invalid_request', undefined]);
  assert.equal(refused.notes.tries?.at(-1)?.status, 400);
  const rows = await read.selectFrom('request_log').selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), /s3cret/);
});

const images = '/v1/images/generations';
for (const [what, path, body, upstreamPath] of [
  ['an image', images, { model: 'gpt-image-flare', prompt: 'a' }, images],
  ['a search', '/v1/web-search', { query: 'cats' }, '/brave/web/search'],
] as const)
  test(`the history has the calls for ${what} too`, async (t) => {
    const upstream = await startUpstream(t);
    const brave = { base_url: `${upstream.url}/brave`, api_key: 'k' };
    const { gateway, made, logged } = await start(t, { providers: { brave } });
    for (const host of [upstream, gateway.upstream]) host.on(upstreamPath, answerStatus(503));
    const { requestId } = await gateway.post(path, { key: made.key, body });
    const { tries } = (await logged(requestId)).notes;
    assert.deepEqual(
      tries?.map(({ failure, status }) => [failure, status]),
      [['status', 503]],
    );
  });

test('hits, replays, errors and provider calls are counted, and stored at shutdown at the latest', async (t) => {
  const { clock, gateway, read, made, ask, sums } = await start(t);
  const { id, key, account } = made;
  gateway.upstream.on(chat.upstreamPath, answer);
  for (let count = 0; count < 3; count++) assert.equal((await ask({ temperature: 0 })).status, 200);
  for (let count = 0; count < 2; count++) await ask({}, { 'idempotency-key': 'one' });
  gateway.upstream.on(chat.upstreamPath, answerStatus(400));
  const failed = await ask({ stream: true });
  const unknown = await ask({ model: 'unknown' });
  const refused = await gateway.get('/v1/usage?limit=0', { key });
  await gateway.program.terminate();

  assert.deepEqual(
    (await sums()).map((sum) => [sum.group, sum.outcome, sum.requests, sum.savedMicros]),
    [
      ['', 'invalid_request', 1, 0],
      ['', 'model_not_found', 1, 0],
      ['priced', 'hit', 2, 80],
      ['priced', 'idempotent-replay', 1, 40],
      ['priced', 'invalid_request', 1, 0],
    ],
  );
  const ofAccount = { accountId: account, mode: 'live', outcomes: ['failed'], limit: 9 } as const;
  const { rows } = await listUncharged(read, ofAccount);
  assert.deepEqual(
    rows.map((error) => [error.requestId, error.modelId, error.path, error.code]),
    [
      [refused.requestId, '', '/v1/usage', 'invalid_request'],
      [unknown.requestId, '', chat.path, 'model_not_found'],
      [failed.requestId, 'priced', chat.path, 'invalid_request'],
    ],
  );
  const nowMs = clock.nowMs();
  const providers = await readProviders(read, { fromMs: nowMs - 2 * 3_600_000, toMs: nowMs + 1 });
  assert.equal(providers.length, 1);
  const openai = { provider: 'openai', calls: 3, failures: 0, whole: { calls: 2 } };
  assert.partialDeepStrictEqual(providers[0], openai);
  assert.equal((await readKeyUses(read, [id])).size, 1);
});

test('a retry whose answer was not stored is an error, not a replay that saved something', async (t) => {
  const idempotency = { file_bytes_per_day: 0 };
  const { gateway, ask, sums } = await start(t, { idempotency }, { storedAnswerBytes: 1 });
  gateway.upstream.on(chat.upstreamPath, answer);
  assert.equal((await ask({}, { 'idempotency-key': 'one' })).status, 200);
  assert.equal((await ask({}, { 'idempotency-key': 'one' })).status, 409);
  await gateway.program.app.gateway.observe.activity.flush();
  const [error, ...others] = await sums();
  assert.deepEqual(others, []);
  const expected = { outcome: 'idempotency_body_not_retained', requests: 1, savedMicros: 0 };
  assert.partialDeepStrictEqual(error, expected);
});
