// The dashboard's overview: its figures equal the ledger's, and its samples for newcomers work.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { firstSamples } from '../../dashboard/pages/overview/first-request.ts';
import type { DailyCosts, Overview } from '../../src/dashboard-contract/overview.ts';
import { micros } from '../../src/lib/money.ts';
import { after, before, test } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

const chat = endpoint('chat');
const root = join(import.meta.dirname, '..', '..');

let clock: TestClock;
let gateway: TestGateway<RunningApp>;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({}, { clock });
});
after(() => gateway.stop());

test('a new account has play money and nothing else', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { activity, ...overview } = await overviewOf(member, 'test');
  assert.deepEqual(overview, {
    balance: { available_micros: 1_000_000_000, held_micros: 0 },
    spent: { today_micros: 0, month_micros: 0 },
    has_charges: false,
    errors: [],
    recent_errors: [],
  });
  assert.ok(Object.values(activity).every((figure) => figure === 0));
  assert.equal((await overviewOf(member, 'live')).balance.available_micros, 0);
  const { days, series } = await costsOf(member, 'mode=test&by=model');
  assert.deepEqual(
    [days.length, days.at(-1), series],
    [30, new Date(clock.nowMs()).toISOString().slice(0, 10), []],
  );
});

test('costs, tokens, savings and errors are those of this account and mode only', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const { account } = owner;
  const [one, other] = [await make(owner, 'One'), await make(owner, 'Other')];
  const stranger = await gateway.makeKey();
  const ask = (key: string, fields: object = {}, headers: Record<string, string> = {}) =>
    gateway.post(chat.path, { key, headers, body: chat.body(fields) });
  const cached = { temperature: 0, messages: [{ role: 'user', content: 'The same again' }] };
  const first = await ask(one.secret, cached);
  const hit = await ask(one.secret, cached);
  assert.equal(hit.headers['x-service-cache'], 'hit');
  const named = await ask(one.secret, {}, { 'idempotency-key': 'once' });
  assert.equal(
    (await ask(one.secret, {}, { 'idempotency-key': 'once' })).headers['x-service-cache'],
    'idempotent-replay',
  );
  const dear = await ask(other.secret, { model: 'gpt-4o' });
  assert.equal((await ask(stranger.key)).status, 200);
  await gateway
    .makeKey({ account, mode: 'test', dailyCapMicros: micros(0), name: 'Capped' })
    .then(({ key }) => ask(key));
  assert.equal((await ask(one.secret, { model: 'no-such-model' })).status, 404);
  const costs = [first, named, dear].map((reply) => reply.costMicros!);
  const spent = costs.reduce((sum, cost) => sum + cost, 0);

  // Uncharged requests are counted in memory first.
  const overview = await untilNoticed(clock, async () => {
    await gateway.program.app.gateway.activity.flush();
    const seen = await overviewOf(owner, 'test');
    const { cache_hits: hits, replays } = seen.activity;
    return (
      seen.errors.length === 2 &&
      seen.recent_errors.length === 2 &&
      hits === 1 &&
      replays === 1 &&
      seen
    );
  });
  assert.deepEqual(overview.balance, { available_micros: 1_000_000_000 - spent, held_micros: 0 });
  assert.deepEqual(overview.spent, { today_micros: spent, month_micros: spent });
  assert.equal(overview.has_charges, true);
  const usage = (await gateway.get('/v1/usage', { key: one.secret })).json<{
    data: Record<string, number>[];
  }>().data;
  const sumOf = (field: string) => usage.reduce((sum, row) => sum + row[field]!, 0);
  assert.deepEqual(overview.activity, {
    requests: 3,
    input_tokens: sumOf('input_tokens'),
    cached_tokens: overview.activity.cached_tokens,
    output_tokens: sumOf('output_tokens'),
    cost_micros: spent,
    cache_hits: 1,
    replays: 1,
    saved_micros: first.costMicros! + named.costMicros!,
  });
  assert.deepEqual(
    new Map(overview.errors.map(({ code, requests }) => [code, requests])),
    new Map([
      ['key_daily_limit_reached', 1],
      ['model_not_found', 1],
    ]),
  );
  const [last, earlier] = overview.recent_errors;
  assert.deepEqual(
    [last!.code, last!.path, last!.key.name],
    ['model_not_found', '/v1/chat/completions', 'One'],
  );
  assert.deepEqual(
    [earlier!.code, earlier!.model, earlier!.key.name],
    ['key_daily_limit_reached', 'gpt-5-mini', 'Capped'],
  );
  assert.equal((await overviewOf(owner, 'live')).has_charges, false);

  const byModel = await costsOf(owner, 'mode=test&by=model');
  const byKey = await costsOf(owner, 'mode=test&by=key');
  const today = (costsBy: DailyCosts) =>
    new Map(costsBy.series.map(({ id, name, cost_micros: daily }) => [id, [name, daily.at(-1)]]));
  const mini = first.costMicros! + named.costMicros!;
  assert.deepEqual(
    [today(byModel).get('gpt-5-mini')![1], today(byModel).get('gpt-4o')![1]],
    [mini, dear.costMicros],
  );
  assert.deepEqual(
    today(byKey),
    new Map([
      [one.key.id, ['One', mini]],
      [other.key.id, ['Other', dear.costMicros]],
    ]),
  );
  assert.deepEqual((await costsOf(owner, 'mode=live&by=key')).series, []);

  // The list also shows when each key was last used.
  const keys = (await owner.get(`/accounts/${account}/keys?mode=test`)).json<{
    data: { name: string; last_used_at: string | null }[];
  }>();
  assert.ok(
    keys.data.every(({ last_used_at: at }) => at !== null && Date.parse(at) <= clock.nowMs()),
  );
});

test('another account sees nothing, and invalid queries are refused', async () => {
  const [member, stranger] = [
    await signIn(gateway, { role: 'member' }),
    await signIn(gateway, { role: 'owner' }),
  ];
  for (const path of ['overview?mode=test', 'overview/costs?mode=test&by=key']) {
    assert.equal((await stranger.get(`/accounts/${member.account}/${path}`)).status, 404);
  }
  assert.equal((await member.get(`/accounts/${member.account}/overview`)).error.param, 'mode');
  assert.equal(
    (await member.get(`/accounts/${member.account}/overview/costs?mode=test&by=day`)).error.param,
    'by',
  );
});

test('the code samples for newcomers run unchanged', async (t) => {
  const { key } = await gateway.makeKey();
  const samples = firstSamples({
    baseUrl: gateway.url,
    key,
    model: 'gpt-5-mini',
    text: 'Say hello.',
  });
  const codeOf = (name: string) => samples.find(({ language }) => language === name)!.code;
  // Inside the project, so that the package is found.
  const folder = mkdtempSync(join(root, 'dist', 'sample-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'first.mjs');
  writeFileSync(file, codeOf('JavaScript'));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  assert.match(stdout, /\w+ \w+/);
  const body = /-d '(.*)'$/s.exec(codeOf('curl'))![1]!;
  assert.equal((await gateway.post(chat.path, { key, body })).status, 200);
});

async function overviewOf(client: DashboardClient, mode: 'live' | 'test'): Promise<Overview> {
  const reply = await client.get(`/accounts/${client.account}/overview?mode=${mode}`);
  assert.equal(reply.status, 200, reply.text);
  return reply.json();
}

async function costsOf(client: DashboardClient, query: string): Promise<DailyCosts> {
  return (await client.get(`/accounts/${client.account}/overview/costs?${query}`)).json();
}

async function make(client: DashboardClient, name: string) {
  const reply = await client.post(`/accounts/${client.account}/keys`, { mode: 'test', name });
  return reply.json<{ key: { id: string }; secret: string }>();
}
