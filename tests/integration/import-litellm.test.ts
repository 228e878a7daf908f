// `tollgate import litellm`: of its keys only plain hashes are known, which become HMACs at their
// first use; guesses at them are throttled like any other.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from '../support/both-stores.ts';
import {
  liteLlmEnvironment,
  liteLlmKeys,
  liteLlmSample,
  makeForeign,
} from '../support/foreign-samples.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  answerHi,
  ask as askAs,
  countRows,
  restartWith,
  resultsOf,
  type Report,
} from '../support/imports.ts';
import { rowsOf } from '../support/rows.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

let gateway: TestGateway<RunningApp>;
let url: string;
const clock = new TestClock();
const failuresMax = 5;

before(async () => {
  gateway = await startGateway({ limits: { failed_keys_per_minute: failuresMax } }, { clock });
  url = await makeForeign('postgres', liteLlmSample(gateway.upstream.url));
  gateway.program.env = { ...gateway.program.env, ...liteLlmEnvironment };
  answerHi(gateway);
});
after(() => gateway.stop());

const run = (...options: string[]) =>
  gateway.program.cli<Report>('import', 'litellm', '--database', url, ...options);
const idOf = ({ lines }: Report, kind: string, name: string) =>
  lines.find((line) => line.kind === kind && line.name === name)!.id!;
const ask = (key: string) => askAs(gateway, key, 'mine');
const digests = async () =>
  (await rowsOf(gateway.database, 'api_keys')).map(({ digest }) => digest);
const isPlain = (digest: string) => digest.startsWith('sha256:');

test('an SDK with the old key is served and charged; its hash becomes an HMAC; a second run changes nothing', async () => {
  const file = join(gateway.program.dataDir, 'moved.yaml');
  const report = await run('--apply', '--credit-usd', '2', '--write-config', file);
  assert.deepEqual(resultsOf(report), {
    'account Team': 'came',
    'account ada@example.com': 'came',
    'account keys of nobody': 'came',
    'key ada': 'came',
    'key team': 'came',
    'key blocked': 'came disabled',
    'key chosen': 'came',
    'user ada@example.com': 'comes',
    'provider openai': 'comes',
    'provider vllm': 'comes',
    'alias mine': 'comes',
    'model house': 'comes',
    'model other': 'comes',
    'model vectors': 'comes',
    'other master key': 'stays',
    'other history of requests, and what was spent in the running windows': 'stays',
  });
  assert.ok((await digests()).filter(isPlain).length === 4);
  assert.deepEqual(await restartWith(gateway, file), {
    providers: {
      openai: { kind: 'openai', base_url: `${gateway.upstream.url}/v1`, api_key: 'sk-one' },
      vllm: {
        kind: 'openai-compatible',
        base_url: `${gateway.upstream.url}/v1`,
        api_key: 'sk-one',
      },
    },
    models: {
      house: {
        routes: [{ provider: 'openai', model: 'gpt-house', rank: 0, weight: 1 }],
        prices: { input: 1.25, output: 10 },
      },
      other: { routes: [{ provider: 'vllm', model: 'llama', rank: 0, weight: 1 }] },
      vectors: {
        type: 'embedding',
        routes: [{ provider: 'openai', model: 'vectors-house', rank: 0, weight: 1 }],
        prices: { input: 0.02, output: 0 },
      },
    },
    aliases: { mine: 'house' },
  });
  const keys = await rowsOf(gateway.database, 'api_keys', { id: idOf(report, 'key', 'ada') });
  assert.deepEqual(
    keys.map((key) => [
      key.daily_cap_micros,
      key.monthly_cap_micros,
      key.requests_per_minute,
      key.tokens_per_minute,
      key.models,
      key.hint,
    ]),
    [[300_000, null, 7, 500_000, null, 'sk-…ada0']],
  );
  assert.equal(await ask(liteLlmKeys.ada), 'Hi');
  assert.equal(
    (await gateway.balance(idOf(report, 'account', 'ada@example.com'))).availableMicros,
    2_000_000 - 2_250,
  );
  await untilNoticed(clock, async () => (await digests()).filter(isPlain).length === 3);
  // Under the HMAC, after a restart that empties the memory.
  await gateway.program.terminate();
  await gateway.program.start();
  assert.equal(await ask(liteLlmKeys.ada), 'Hi');

  for (const key of [liteLlmKeys.teamOld, liteLlmKeys.teamNew]) await ask(key);
  const [team] = await rowsOf(gateway.database, 'api_keys', { id: idOf(report, 'key', 'team') });
  assert.deepEqual(
    [team!.models, team!.monthly_cap_micros, team!.requests_per_minute],
    ['["house","other"]', 10_000, 60],
  );
  await assert.rejects(ask(liteLlmKeys.blocked), /disabled/);
  // LiteLLM refuses a key without sk-, and so does this gateway.
  await assert.rejects(ask(liteLlmKeys.chosen), { status: 401 });
  clock.jumpTo(clock.nowMs() + 120_000);
  // A hash is no key, even if it was read in the database.
  for (const digest of await digests()) await assert.rejects(ask(digest), { status: 401 });
  clock.jumpTo(clock.nowMs() + 120_000);

  const earlier = await countRows(gateway);
  const again = await run('--apply', '--credit-usd', '2');
  assert.deepEqual(
    again.lines.filter(({ result }) => result === 'came'),
    [],
  );
  assert.deepEqual(await countRows(gateway), earlier);
});

test('after an import, wrong keys count, and who has sent too many waits; keys in use go on', async () => {
  clock.jumpTo(clock.nowMs() + 120_000);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < failuresMax + 40; attempt += 1)
    statuses.push(
      (await gateway.get('/v1/balance', { key: `sk-guessguessguess${attempt}` })).status,
    );
  assert.ok(statuses.slice(0, failuresMax).every((status) => status === 401));
  assert.equal(statuses.at(-1), 429);
  assert.equal((await gateway.get('/v1/balance', { key: liteLlmKeys.ada })).status, 200);
});

test('without the salt key, sealed models stay, and the report says what to set', async () => {
  const { LITELLM_SALT_KEY: _, ...env } = gateway.program.env;
  const usual = gateway.program.env;
  for (const wrong of [{}, { LITELLM_SALT_KEY: 'sk-another' }]) {
    gateway.program.env = { ...env, ...wrong } as Record<string, string>;
    const report = await run();
    const house = report.lines.find(({ name }) => name === 'house')!;
    assert.equal(house.result, 'stays');
    assert.match(house.notes.join(), /LITELLM_SALT_KEY/);
  }
  gateway.program.env = usual;
  await assert.rejects(gateway.program.cli('import', 'litellm'), /give --config, --database/);
  await assert.rejects(
    gateway.program.cli('import', 'litellm', '--config', '/no/such'),
    /does not exist; name the file/,
  );
});
