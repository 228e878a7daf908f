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
  const config = {
    models: { priced: { ...limits, routes } },
    retries: { max_attempts: 3 },
    ...more,
  };
  const gateway = await startGateway(config, {
    clock,
    tuning: { backoffMs: 1, retriesMin: 10, ...tuning },
  });
  t.after(() => gateway.stop());
  return { clock, gateway };
}

test('a charge stores the number of upstream calls, the duration and the time to the first byte', async (t) => {
  const { clock, gateway } = await start(t);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const ask = (stream: boolean) =>
    whileTimePasses(
      clock,
      gateway.post(chat.path, { key, body: chat.body({ model: 'priced', stream }) }),
    );
  gateway.upstream.on(chat.upstreamPath, answerStatus(500), answer);
  const whole = await ask(false);
  const streamed = await ask(true);
  const { charges } = await listCharges(gateway.database.read, {
    ledgerId: ledgerIdOf(account, 'live'),
    limit: 9,
    cursor: null,
  });
  const [later, earlier] = charges;
  assert.deepEqual(
    [later?.id, earlier?.id, charges.length],
    [streamed.requestId, whole.requestId, 2],
  );
  assert.deepEqual([earlier?.attempts, earlier?.firstByteMs], [2, null]);
  assert.equal(later?.attempts, 1);
  for (const { durationMs } of charges)
    assert.ok(Number.isSafeInteger(durationMs), String(durationMs));
  assert.ok(
    later.firstByteMs !== null && later.firstByteMs <= later.durationMs!,
    `${later.firstByteMs} ms`,
  );
});

test('the history has each call to a provider, and no words of a provider', async (t) => {
  const { clock, gateway } = await start(t);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { read } = gateway.database;
  const ask = async (stream: boolean) => {
    const { requestId } = await whileTimePasses(
      clock,
      gateway.post(chat.path, { key, body: chat.body({ model: 'priced', stream }) }),
    );
    await gateway.program.app.gateway.observe.activity.flush();
    return (await findLogged(read, { accountId: account, requestIds: [requestId] })).get(
      requestId,
    )!;
  };
  const quoting = answerStatus(400, { body: { error: { message: 'bad prompt: s3cret words' } } });
  gateway.upstream.on(chat.upstreamPath, answerStatus(503), answer);
  const served = await ask(true);
  assert.deepEqual(
    served.notes.tries?.map((one) => ({ ...one, ms: 0 })),
    [
      { provider: 'openai', model: 'm', ending: 'failed', failure: 'status', status: 503, ms: 0 },
      { provider: 'openai', model: 'm', ending: 'answered', failure: null, status: null, ms: 0 },
    ],
  );
  assert.deepEqual([served.outcome, served.notes.finish], ['charged', 'end']);
  gateway.upstream.on(chat.upstreamPath, quoting);
  const refused = await ask(false);
  assert.deepEqual([refused.code, refused.notes.errorMessage], ['invalid_request', undefined]);
  assert.equal(refused.notes.tries?.at(-1)?.status, 400);
  const rows = await read.selectFrom('request_log').selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), /s3cret/);
});

const otherSales = [
  [
    'an image',
    '/v1/images/generations',
    { model: 'gpt-image-flare', prompt: 'a' },
    '/v1/images/generations',
  ],
  ['a search', '/v1/web-search', { query: 'cats' }, '/brave/web/search'],
] as const;
for (const [what, path, body, upstreamPath] of otherSales)
  test(`the history has the calls for ${what} too`, async (t) => {
    const upstream = await startUpstream(t);
    const brave = { base_url: `${upstream.url}/brave`, api_key: 'k' };
    const { gateway } = await start(t, { providers: { brave } });
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    for (const host of [upstream, gateway.upstream]) host.on(upstreamPath, answerStatus(503));
    const { requestId } = await gateway.post(path, { key, body });
    await gateway.program.app.gateway.observe.activity.flush();
    const { read } = gateway.database;
    const found = await findLogged(read, { accountId: account, requestIds: [requestId] });
    assert.deepEqual(
      found.get(requestId)!.notes.tries?.map(({ failure, status }) => [failure, status]),
      [['status', 503]],
    );
  });

test('hits, replays, errors and provider calls are counted, and stored at shutdown at the latest', async (t) => {
  const { clock, gateway } = await start(t);
  const { id, key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const ask = (fields: object, headers: Record<string, string> = {}) =>
    gateway.post(chat.path, { key, headers, body: chat.body({ model: 'priced', ...fields }) });
  gateway.upstream.on(chat.upstreamPath, answer);
  for (let count = 0; count < 3; count++) assert.equal((await ask({ temperature: 0 })).status, 200);
  for (let count = 0; count < 2; count++) await ask({}, { 'idempotency-key': 'one' });
  gateway.upstream.on(chat.upstreamPath, answerStatus(400));
  const failed = await ask({ stream: true });
  const unknown = await ask({ model: 'unknown' });
  const refused = await gateway.get('/v1/usage?limit=0', { key });
  await gateway.program.terminate();

  const { read } = gateway.database;
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const ofAccount = { accountId: account, mode: 'live' } as const;
  const sums = await sumActivity(read, {
    ...ofAccount,
    fromDay: '2020-01-01',
    toDay: day,
    by: 'model',
  });
  assert.deepEqual(
    sums.map((sum) => [sum.group, sum.outcome, sum.requests, sum.savedMicros, sum.outputTokens]),
    [
      ['', 'invalid_request', 1, 0, 0],
      ['', 'model_not_found', 1, 0, 0],
      ['priced', 'hit', 2, 80, 6],
      ['priced', 'idempotent-replay', 1, 40, 3],
      ['priced', 'invalid_request', 1, 0, 0],
    ],
  );
  assert.deepEqual(
    (await listUncharged(read, { ...ofAccount, outcomes: ['failed'], limit: 9 })).rows.map(
      (error) => [error.requestId, error.modelId, error.path, error.code],
    ),
    [
      [refused.requestId, '', '/v1/usage', 'invalid_request'],
      [unknown.requestId, '', chat.path, 'model_not_found'],
      [failed.requestId, 'priced', chat.path, 'invalid_request'],
    ],
  );
  const [openai, ...others] = await readProviders(read, {
    fromMs: clock.nowMs() - 2 * 3_600_000,
    toMs: clock.nowMs() + 1,
  });
  assert.deepEqual(
    [openai?.provider, openai?.calls, openai?.failures, openai?.whole?.calls, others],
    ['openai', 3, 0, 2, []],
  );
  assert.equal((await readKeyUses(gateway.database.read, [id])).size, 1);
});

test('a retry whose answer was not stored is an error, not a replay that saved something', async (t) => {
  const idempotency = { file_bytes_per_day: 0 };
  const { clock, gateway } = await start(t, { idempotency }, { storedAnswerBytes: 1 });
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sent = { key, headers: { 'idempotency-key': 'one' }, body: chat.body({ model: 'priced' }) };
  gateway.upstream.on(chat.upstreamPath, answer);
  assert.equal((await gateway.post(chat.path, sent)).status, 200);
  assert.equal((await gateway.post(chat.path, sent)).status, 409);
  await gateway.program.app.gateway.observe.activity.flush();
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const sums = await sumActivity(gateway.database.read, {
    accountId: account,
    mode: 'live',
    fromDay: '2020-01-01',
    toDay: day,
    by: 'model',
  });
  assert.deepEqual(
    sums.map((sum) => [sum.outcome, sum.requests, sum.savedMicros]),
    [['idempotency_body_not_retained', 1, 0]],
  );
});
