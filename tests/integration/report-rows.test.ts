// Reports read a bounded number of rows, however many tags, keys and accounts there are: each query of
// the dashboard's API and the admin API is counted in the database's answers.
import assert from 'node:assert/strict';
import { DefaultQueryExecutor } from 'kysely';
import { adminCalls, dashboardCalls } from '../../src/management/contract/contract.ts';
import type { Analytics } from '../../src/management/contract/analytics.ts';
import { micros } from '../../src/lib/money.ts';
import { adminOf, type AdminClient } from '../support/admin.ts';
import { after, before, test } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';

const many = 1_100;
/** Of one statement. */
const rowsMax = 1_000;
const [day, earlier] = ['2026-11-20', '2026-11-10'];

let gateway: TestGateway<RunningApp>;
let owner: DashboardClient;
let operator: DashboardClient;
let admin: AdminClient;
const found: { sql: string; rows: number }[] = [];
type Execute = DefaultQueryExecutor['executeQuery'];
const prototype: { executeQuery: Execute } = DefaultQueryExecutor.prototype;
const executeQuery = Reflect.get(prototype, 'executeQuery');

before(async () => {
  prototype.executeQuery = async function executeCounted(query, options) {
    const result = await executeQuery.call(this, query, options);
    found.push({ sql: query.sql, rows: result.rows.length });
    return result as never;
  };
  gateway = await startGateway({}, { clock: new TestClock(Date.parse(`${day}T12:00:00Z`)) });
  owner = await signIn(gateway, { role: 'owner' });
  operator = await signIn(gateway, { role: null, operator: true });
  admin = await adminOf(gateway);
  await fill();
});
after(async () => {
  prototype.executeQuery = executeQuery;
  // The books are verified at the end, and these charges have no entries.
  const { write } = gateway.database;
  for (const table of ['tag_days', 'charge_days', 'loss_days', 'key_windows'] as const)
    await write.deleteFrom(table).execute();
  await gateway.stop();
});

const ids = (prefix: string) =>
  Array.from({ length: many }, (_, index) => `${prefix}${String(index).padStart(5, '0')}`);

/** One account has as many tags and keys as there are accounts. */
async function fill(): Promise<void> {
  const { write } = gateway.database;
  const { account, userId } = owner;
  const ledger_id = `${account}:live`;
  const owned = { account_id: account, mode: 'live' } as const;
  const [keys, tags, accounts] = [ids('key_'), ids('user='), ids('acc_z')];
  const sums = { requests: 1, input_tokens: 1, output_tokens: 1 };
  const insert = async (table: string, rows: readonly object[]) => {
    for (let start = 0; start < rows.length; start += 100)
      await write
        .insertInto(table as 'key_uses')
        .values(rows.slice(start, start + 100) as never)
        .execute();
  };
  const created_at_ms = Date.parse(day);
  await insert(
    'accounts',
    accounts.map((id) => ({ id, name: id, created_at_ms })),
  );
  await insert(
    'ledgers',
    accounts.flatMap((account_id) =>
      (['live', 'test'] as const).map((mode) => ({
        id: `${account_id}:${mode}`,
        account_id,
        mode,
      })),
    ),
  );
  await insert(
    'api_keys',
    keys.map((id) => ({ ...owned, id, name: id, digest: id, hint: id, created_at_ms })),
  );
  await insert(
    'key_owners',
    keys.slice(0, many / 2).map((key_id) => ({ key_id, ledger_id, user_id: userId })),
  );
  await insert(
    'audit_log',
    keys.map((subject) => ({
      id: `aud_${subject}`,
      actor_kind: 'user',
      actor_id: `left ${subject}`,
      actor_name: 'Left',
      account_id: account,
      action: 'key.create',
      subject,
      created_at_ms,
    })),
  );
  const cost = (index: number) => micros(1_000 + index);
  const chargeDay = (ledger: string, key_id: string, index: number) => ({
    ledger_id: ledger,
    day,
    key_id,
    model_id: 'm',
    endpoint: 'chat',
    ...sums,
    cached_tokens: 0,
    images: 0,
    cost_micros: cost(index),
    upstream_cost_micros: 0,
    loss_micros: 0,
  });
  for (const on of [day, earlier]) {
    await insert(
      'charge_days',
      keys.map((key, index) => ({ ...chargeDay(ledger_id, key, index), day: on })),
    );
    await insert(
      'tag_days',
      tags.map((tag, index) => ({
        ledger_id,
        tag,
        day: on,
        key_id: 'k',
        model_id: 'm',
        ...sums,
        cost_micros: cost(index),
      })),
    );
    const failed = { ...owned, day: on, outcome: 'upstream_error', requests: 2, saved_micros: 0 };
    await insert(
      'activity_days',
      keys.map((key_id) => ({
        ...failed,
        key_id,
        model_id: '',
        input_tokens: 0,
        output_tokens: 0,
      })),
    );
    await insert(
      'activity_tag_days',
      tags.map((tag) => ({ ...failed, tag })),
    );
    const measured = { ...owned, period: on, kind: 'whole', latency_bucket: 9, requests: 1 };
    for (const [grouped_by, groups] of [
      ['none', ['']],
      ['key', keys],
      ['tag', tags],
    ] as const)
      await insert(
        'latency_sums',
        groups.map((group_id) => ({
          ...measured,
          grouped_by,
          group_id,
          requests: grouped_by === 'none' ? many : 1,
        })),
      );
  }
  await insert(
    'charge_days',
    accounts.map((id, index) => chargeDay(`${id}:live`, 'k', index)),
  );
  await insert(
    'loss_days',
    accounts.map((id) => ({ ledger_id: `${id}:live`, day, provoked_micros: 5 })),
  );
  await insert(
    'key_windows',
    keys.flatMap((key_id) =>
      ['day', 'month'].map((kind) => ({
        key_id,
        kind,
        starts_on: kind === 'day' ? day : day.slice(0, 7),
        settled_micros: 2,
        held_micros: 0,
      })),
    ),
  );
}

/** Values of the queries' fields. Each value of a list is asked for. */
const asked: Readonly<Record<string, readonly string[]>> = {
  mode: ['live'],
  from: ['2026-11-15'],
  to: [day],
  by: ['model', 'key', 'member', 'provider', 'tag', 'day', 'account'],
  sort: ['', 'spent-today', 'last-used', 'cost'],
  search: ['00'],
  member: ['', 'left key_00001'],
  tag: ['', 'user=00001'],
};

/** Returns all requests of the GET endpoints of a contract whose only parameter is an account. */
function requestsOf(endpoints: object, account: string): readonly string[] {
  return Object.entries(endpoints).flatMap(([name, { query }]) => {
    const path = name.replace(/^GET /, '').replace(':account', account);
    if (path === name || path.includes(':')) return [];
    let queries: readonly string[] = [''];
    for (const field of Object.keys((query as { properties?: object })?.properties ?? {}))
      queries = (asked[field] ?? ['']).flatMap((value) =>
        queries.map((text) =>
          value === '' ? text : `${text}&${field}=${encodeURIComponent(value)}`,
        ),
      );
    return queries.map((text) => `${path}?${text.slice(1)}`);
  });
}

async function rowsOf(get: () => Promise<{ readonly status: number }>) {
  found.length = 0;
  const { status } = await get();
  return { status, largest: found.toSorted((one, other) => other.rows - one.rows)[0] };
}

test('no statement of a report returns more than a thousand rows', async () => {
  let answered = 0;
  const fromAdmin = (path: string) => {
    const { pathname, searchParams } = new URL(path, 'http://gateway.test');
    return admin.send('GET', pathname, { query: Object.fromEntries(searchParams) });
  };
  for (const [get, endpoints] of [
    [(path: string) => owner.get(path), dashboardCalls],
    [(path: string) => operator.get(path), dashboardCalls],
    [fromAdmin, adminCalls],
  ] as const)
    for (const path of requestsOf(endpoints, owner.account)) {
      const { status, largest } = await rowsOf(() => get(path));
      assert.ok(status < 500, `${path}: ${status}`);
      answered += status === 200 ? 1 : 0;
      const text = `${path} reads ${largest?.rows} rows: ${largest?.sql}`;
      assert.ok((largest?.rows ?? 0) <= rowsMax, text);
    }
  assert.ok(answered > 60, String(answered));
});

async function analyticsBy(by: string): Promise<Analytics> {
  const query = `mode=live&from=2026-11-15&to=${day}&by=${by}`;
  return jsonOf<Analytics>(owner.get(`/accounts/${owner.account}/analytics?${query}`));
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

test('the rows of keys and members add up to the total, with one row for the rest', async () => {
  for (const by of ['key', 'member']) {
    const { now, before: then, rows, series } = await analyticsBy(by);
    assert.deepEqual([rows.length, rows.filter((row) => row.is_rest).length], [201, 1], by);
    for (const figure of ['cost_micros', 'requests', 'input_tokens', 'errors'] as const)
      assert.equal(total(rows.map((row) => row[figure])), now[figure], `${by} ${figure}`);
    assert.equal(total(rows.map((row) => row.before.requests)), then.requests);
    assert.equal(total(series.flatMap((one) => one.cost_micros)), now.cost_micros);
    assert.equal(rows.at(-1)!.is_rest, true);
    assert.equal(rows.at(-1)!.duration?.p50_ms, rows[1]!.duration?.p50_ms);
  }
  const { rows } = await analyticsBy('member');
  assert.deepEqual([rows[0]!.id, rows[0]!.name], [owner.userId, owner.email]);
  assert.equal(rows[0]!.requests, (many / 2) * 3);
  assert.equal(rows[1]!.name, 'Left');
});

test('the tags with the highest costs are shown, each with all its figures', async () => {
  const { rows, series } = await analyticsBy('tag');
  assert.equal(rows.length, 200);
  const names = ids('user=').toReversed();
  assert.deepEqual(
    rows.map(({ id }) => id),
    names.slice(0, 200),
  );
  const { cost_micros, requests, errors, before: then, duration } = rows[0]!;
  assert.deepEqual(
    [cost_micros, requests, errors, then.requests, then.cost_micros, duration !== null],
    [1_000 + many - 1, 3, 2, 3, 1_000 + many - 1, true],
  );
  assert.deepEqual(
    series.map(({ id }) => id),
    [...names.slice(0, 5), null],
  );
});

test('pages of the admin API’s reports list every account once', async () => {
  for (const [report, range] of [
    ['sums', { by: 'account', from: day, to: day }],
    ['losses', { mode: 'live' }],
  ] as const) {
    const seen: string[] = [];
    let cursor = '';
    do {
      const query = { ...range, limit: '100', ...(cursor !== '' && { after: cursor }) };
      const reply = await admin.send('GET', `/reports/${report}`, { query });
      const page = reply.json<{
        data: readonly { group?: string; account_id?: string }[];
        next_cursor: string | null;
      }>();
      assert.equal(reply.status, 200, reply.text);
      seen.push(...page.data.map((row) => row.group ?? row.account_id!));
      cursor = page.next_cursor ?? '';
    } while (cursor !== '');
    const wanted = [...(report === 'sums' ? [owner.account] : []), ...ids('acc_z')];
    assert.deepEqual(seen, wanted);
  }
});
