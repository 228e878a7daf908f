// The dashboard's overview and analytics: their figures equal the ledger's, and the samples for
// newcomers work.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { firstSamples } from '../../dashboard/parts/first-request.ts';
import type {
  Analytics,
  AnalyticsDays,
  WeekHours,
} from '../../src/management/contract/analytics.ts';
import type { Overview } from '../../src/management/contract/overview.ts';
import { micros } from '../../src/lib/money.ts';
import { dayMs } from '../../src/lib/utc-time.ts';
import { after, before, test } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { columnOf } from '../support/column-of.ts';
import { setRows } from '../support/rows.ts';

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
  assert.deepEqual(await overviewOf(member, 'test'), {
    balance: { available_micros: 1_000_000_000, held_micros: 0 },
    spent: { today_micros: 0, month_micros: 0 },
    runway_days: null,
    has_charges: false,
    recent_errors: [],
  });
  assert.equal((await overviewOf(member, 'live')).balance.available_micros, 0);
  const { now, before: earlier, days, series, rows, errors } = await analyticsOf(member, 'model');
  assert.deepEqual(now, {
    cost_micros: 0,
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    errors: 0,
    cached: 0,
    saved_micros: 0,
    first_token: null,
    duration: null,
  });
  assert.deepEqual(earlier, now);
  assert.deepEqual([days.length, series, rows, errors], [7, [], [], []]);
});

test('costs, tokens, savings and errors are those of this account and mode only', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const { account } = owner;
  const [one, other] = [await make(owner, 'One'), await make(owner, 'Other')];
  const stranger = await gateway.makeKey();
  const tags = { 'x-service-tags': 'team=a' };
  const ask = (key: string, fields: object = {}, headers: Record<string, string> = {}) =>
    gateway.post(chat.path, { key, headers, body: chat.body(fields) });
  const cached = { temperature: 0, messages: [{ role: 'user', content: 'The same again' }] };
  const first = await ask(one.secret, cached, tags);
  const hit = await ask(one.secret, cached, tags);
  assert.equal(hit.headers['x-service-cache'], 'hit');
  const named = await ask(one.secret, {}, { 'idempotency-key': 'once' });
  const replay = await ask(one.secret, {}, { 'idempotency-key': 'once' });
  assert.equal(replay.headers['x-service-cache'], 'idempotent-replay');
  const dear = await ask(other.secret, { model: 'gpt-4o' });
  await ok(ask(stranger.key));
  const cap = { mode: 'test', dailyCapMicros: micros(0), name: 'Capped' } as const;
  await ask((await gateway.makeKey({ account, ...cap })).key, {}, tags);
  // Refused before it is admitted, so its tags do not count.
  assert.equal((await ask(one.secret, { model: 'no-such-model' }, tags)).status, 404);
  const spent = sumOf([first, named, dear].map((reply) => reply.costMicros!));

  // Uncharged requests are counted in memory first.
  await untilNoticed(clock, async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    const { now } = await analyticsOf(owner, 'model');
    return now.errors === 2 && now.cached === 2;
  });
  const overview = await overviewOf(owner, 'test');
  assert.deepEqual(overview.balance, { available_micros: 1_000_000_000 - spent, held_micros: 0 });
  assert.deepEqual(overview.spent, { today_micros: spent, month_micros: spent });
  assert.equal(overview.has_charges, true);
  const usage = await gateway.usage<{ input_tokens: number; output_tokens: number }>(one.secret);
  const byModel = await analyticsOf(owner, 'model');
  const { first_token: firstToken, duration, ...figures } = byModel.now;
  assert.deepEqual(figures, {
    requests: 7,
    input_tokens: sumOf(columnOf(usage, 'input_tokens')),
    output_tokens: sumOf(columnOf(usage, 'output_tokens')),
    cost_micros: spent,
    errors: 2,
    cached: 2,
    saved_micros: first.costMicros! + named.costMicros!,
  });
  assert.equal(firstToken, null);
  assert.ok(duration!.p50_ms <= duration!.p95_ms);
  assert.equal(byModel.before.requests, 0);
  const errorsOf = byModel.errors.map(({ code, requests }) => [code, requests]);
  const refusals = { key_daily_limit_reached: 1, model_not_found: 1 };
  assert.deepEqual(Object.fromEntries(errorsOf), refusals);
  assert.partialDeepStrictEqual(overview.recent_errors, [
    { code: 'model_not_found', path: '/v1/chat/completions', key: { name: 'One' } },
    { code: 'key_daily_limit_reached', model: 'gpt-6-luna', key: { name: 'Capped' } },
  ]);
  assert.equal((await overviewOf(owner, 'live')).has_charges, false);

  const byKey = await analyticsOf(owner, 'key');
  const mini = first.costMicros! + named.costMicros!;
  const costsOf = ({ rows }: Analytics) =>
    rows
      .filter(({ cost_micros: cost }) => cost > 0)
      .map(({ name, cost_micros: cost }) => [name, cost]);
  const inOrder = (groups: readonly (readonly [string, number])[]) =>
    groups.toSorted(([, less], [, more]) => more - less);
  assert.deepEqual(
    costsOf(byModel).map(([, cost]) => cost),
    inOrder([
      ['mini', mini],
      ['gpt-4o', dear.costMicros!],
    ]).map(([, cost]) => cost),
  );
  assert.deepEqual(
    costsOf(byKey),
    inOrder([
      ['One', mini],
      ['Other', dear.costMicros!],
    ]),
  );
  // The owner made both in the dashboard; the capped one was not made by a member.
  const byMember = await analyticsOf(owner, 'member');
  assert.equal(byMember.rows[0]!.cost_micros, spent);
  assert.match(byMember.rows[0]!.name!, /@/);
  assert.deepEqual([byMember.rows[1]!.id, byMember.rows[1]!.errors], [null, 1]);
  const byProvider = await analyticsOf(owner, 'provider');
  const sandbox = byProvider.rows.find(({ name }) => name === 'sandbox')!;
  assert.deepEqual([sandbox.cost_micros, sandbox.duration !== null], [spent, true]);
  const byTag = await analyticsOf(owner, 'tag');
  assert.deepEqual(
    byTag.rows.map((row) => [row.name, row.requests, row.cost_micros, row.cached, row.errors]),
    [['team=a', 3, first.costMicros, 1, 1]],
  );
  assert.deepEqual(byTag.now, byModel.now);
  assert.ok(byTag.rows[0]!.duration!.p50_ms > 0);
  for (const { series, days } of [byModel, byKey, byMember, byProvider]) {
    assert.equal(days.length, 7);
    assert.equal(sumOf(series.flatMap(({ cost_micros: daily }) => daily)), spent);
  }
  const { series: none, began_on: never } = await analyticsOf(owner, 'key', { mode: 'live' });
  assert.deepEqual([none, never], [[], null]);

  // A tag's values do not overlap, so they are stacked with the rest.
  const sums = byTag.series.map(({ name, is_rest: isRest, cost_micros: daily }) => [
    isRest ? 'rest' : name,
    sumOf(daily),
  ]);
  assert.deepEqual(sums, [
    ['team=a', first.costMicros],
    ['rest', spent - first.costMicros!],
  ]);
  assert.equal(byTag.tag_name, 'team');
  const { series: ofEnv } = await analyticsOf(owner, 'tag', { tagName: 'env' });
  assert.deepEqual(columnOf(ofEnv, 'is_rest'), [true]);

  // Each day adds up to the same, and begins with the first charge.
  assert.equal(byModel.began_on, dayOf(clock.nowMs()));
  const read = <Answer>(what: string, range: string) =>
    jsonOf<Answer>(owner.get(`/accounts/${account}/analytics/${what}?mode=test&${range}`));
  const daily = await read<AnalyticsDays>('days', rangeText(clock.nowMs(), 7));
  assert.deepEqual([daily.days, daily.now.length], [byModel.days, 7]);
  assert.deepEqual(daily.now[6], byModel.now);
  assert.ok([...daily.before, ...daily.now.slice(0, 6)].every(({ requests }) => requests === 0));
  assert.deepEqual(
    byKey.rows.map(({ cost_micros: cost, day_costs_micros: days }) => days!.at(-1) === cost),
    byKey.rows.map(() => true),
  );
  const laterDays = await read<AnalyticsDays>('days', rangeText(clock.nowMs() + 7 * dayMs, 7));
  assert.deepEqual(laterDays.before, daily.now);

  // A key that gets another owner takes its figures along, latencies included.
  const mate = await signIn(gateway, { account, role: 'member' });
  const path = `/accounts/${account}/keys/${other.key.id}/owner`;
  await ok(owner.patch(path, { user_id: mate.userId }));
  const ofOther = byKey.rows.find(({ id }) => id === other.key.id)!;
  const ofMate = (await analyticsOf(owner, 'member')).rows.find(({ id }) => id === mate.userId)!;
  assert.deepEqual({ ...ofMate, name: '', id: '' }, { ...ofOther, name: '', id: '' });
  assert.equal(ofMate.name, mate.email);
  const theirs = await jsonOf<{ data: { key: { id: string } }[] }>(
    owner.get(`/accounts/${account}/requests?mode=test&member=${mate.userId}`),
  );
  assert.deepEqual(
    theirs.data.map(({ key }) => key.id),
    [other.key.id],
  );

  const hours = await read<WeekHours>('hours', rangeText(clock.nowMs(), 7));
  const now = new Date(clock.nowMs());
  const hour = now.getUTCDay() * 24 + now.getUTCHours();
  assert.equal(hours.requests.length, 168);
  assert.deepEqual([sumOf(hours.requests), sumOf(hours.cost_micros)], [7, spent]);
  assert.equal(hours.hours, null);
  const { hours: each } = await read<WeekHours>('hours', rangeText(clock.nowMs(), 2));
  const { requests: count, errors, first_token, duration: whole } = daily.now[6];
  const inHour = now.toISOString().slice(0, 13);
  assert.equal(each!.length, 48);
  assert.deepEqual(
    each!.filter(({ requests }) => requests > 0),
    [{ hour: inHour, requests: count, errors, first_token, duration: whole }],
  );
  assert.ok(hours.requests[hour]! > 0);

  // To the days that follow, these are the days before.
  const later = await analyticsOf(owner, 'key', { nowMs: clock.nowMs() + 7 * dayMs });
  assert.deepEqual([later.now.requests, later.before.cost_micros], [0, spent]);
  assert.equal(later.before.requests, 7);

  // As on the page of the balance: today does not count, nor do the days before the first charge.
  assert.equal((await overviewOf(owner, 'test')).runway_days, null);
  const dateCharges = (on: string) =>
    setRows(gateway.database, 'charge_days', { ledger_id: `${account}:test` }, { day: on });
  await dateCharges(dayOf(clock.nowMs() - dayMs));
  const { runway_days: runway } = await overviewOf(owner, 'test');
  assert.equal(runway, Math.floor((1_000_000_000 - spent) / spent));
  await dateCharges(dayOf(clock.nowMs()));

  // The list also shows when each key was last used.
  type Used = { data: { last_used_at: string | null }[] };
  const { data: keys } = await jsonOf<Used>(owner.get(`/accounts/${account}/keys?mode=test`));
  assert.ok(keys.every(({ last_used_at: at }) => at !== null && Date.parse(at) <= clock.nowMs()));
});

test('invalid queries are refused', async () => {
  const member = await signIn(gateway, { role: 'member' });
  assert.equal((await member.get(`/accounts/${member.account}/overview`)).error.param, 'mode');
  for (const [query, param] of [
    [`by=day&${rangeText(0, 1)}`, 'by'],
    ['by=key&from=2026-01-01&to=2027-01-02', 'to'],
    ['by=key&from=2026-02-30&to=2026-03-01', 'from'],
  ]) {
    const reply = await member.get(`/accounts/${member.account}/analytics?mode=test&${query}`);
    assert.deepEqual([reply.status, reply.error.param], [400, param]);
  }
});

test('the code samples for newcomers run unchanged', async (t) => {
  const { key } = await gateway.makeKey();
  const samples = firstSamples({
    baseUrl: gateway.url,
    key,
    model: 'gpt-6-luna',
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
  await ok(gateway.post(chat.path, { key, body }));
});

async function overviewOf(client: DashboardClient, mode: 'live' | 'test'): Promise<Overview> {
  return jsonOf(client.get(`/accounts/${client.account}/overview?mode=${mode}`));
}

/** The seven days up to `nowMs`. */
async function analyticsOf(
  client: DashboardClient,
  by: string,
  {
    mode = 'test',
    nowMs = clock.nowMs(),
    tagName,
  }: { mode?: 'live' | 'test'; nowMs?: number; tagName?: string } = {},
): Promise<Analytics> {
  return jsonOf(
    client.get(
      `/accounts/${client.account}/analytics?mode=${mode}&by=${by}&${rangeText(nowMs, 7)}${tagName === undefined ? '' : `&tag_name=${tagName}`}`,
    ),
  );
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

function rangeText(nowMs: number, days: number): string {
  return `from=${dayOf(nowMs - (days - 1) * dayMs)}&to=${dayOf(nowMs)}`;
}

async function make(client: DashboardClient, name: string) {
  const reply = await client.post(`/accounts/${client.account}/keys`, { mode: 'test', name });
  return reply.json<{ key: { id: string }; secret: string }>();
}

test('web searches have a name among the models', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const { secret: key } = await make(owner, 'Searching');
  await ok(gateway.post('/v1/web-search', { key, body: { query: 'cats' } }));
  const { rows } = await analyticsOf(owner, 'model');
  assert.deepEqual(
    rows.map(({ id, name }) => [id, name]),
    [['web-search', 'Web search']],
  );
});
