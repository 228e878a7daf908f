// Events about spending on both stores, from rows as the ledger and the history write them.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { mailOwners } from '../../src/domain/alerts/endpoints.ts';
import { tellAnomalies, tellCaps } from '../../src/domain/alerts/spending.ts';
import type { Database } from '../../src/db/database.ts';
import { micros } from '../../src/lib/money.ts';
import { dayMs, hourMs } from '../../src/lib/utc-time.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { onEachStore, run, type StoreKind } from './stores.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const usd = (amount: number) => micros(Math.round(amount * 1e6));

/** Returns the new events' data. */
async function look(
  tell: (database: Database, nowMs: number) => Promise<void>,
  database: Database,
  nowMs: number,
): Promise<Record<string, unknown>[]> {
  const before = new Set((await rowsOf(database, 'events')).map(({ id }) => id));
  await tell(database, nowMs);
  return (await rowsOf(database, 'events'))
    .filter(({ id }) => !before.has(id))
    .map(({ data }) => JSON.parse(data) as Record<string, unknown>);
}

async function openCaps(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['one', 'two', 'free']);
  await mailOwners(database.write, 'acc', { types: ['balance.low'], nowMs: 1 });
  await setRows(database, 'alert_endpoints', {}, { types: null });
  const cap = (id: string, daily: number | null, monthly: number | null = null) =>
    setRows(
      database,
      'api_keys',
      { id },
      {
        daily_cap_micros: daily === null ? null : usd(daily),
        monthly_cap_micros: monthly === null ? null : usd(monthly),
      },
    );
  const spend = async (key: string, kind: 'day' | 'month', startsOn: string, amount: number) => {
    await database.write
      .deleteFrom('key_windows')
      .where('key_id', '=', key)
      .where('kind', '=', kind)
      .where('starts_on', '=', startsOn)
      .execute();
    const window = { key_id: key, kind, starts_on: startsOn };
    await database.write
      .insertInto('key_windows')
      .values({ ...window, settled_micros: usd(amount), held_micros: micros(0) })
      .execute();
  };
  const told = async (nowMs = noon) =>
    (await look(tellCaps, database, nowMs)).map(({ of, id, window, percent }) =>
      [of, id, window, percent].join(' '),
    );
  return { database, cap, spend, told };
}

async function openHours(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', []);
  await mailOwners(database.write, 'acc', { types: ['balance.low'], nowMs: 1 });
  await setRows(database, 'alert_endpoints', {}, { types: null });
  /** Spending in the hour that began so many hours before noon. */
  const spend = async (hoursAgo: number, amount: number) => {
    const hour = new Date(noon - hoursAgo * hourMs).toISOString().slice(0, 13);
    await run(database, `delete from activity_hours where hour = '${hour}'`);
    await run(
      database,
      `insert into activity_hours values ('acc', 'live', '${hour}', 'openai', 1, 0, ${usd(amount)}, 0, 0)`,
    );
  };
  const told = (nowMs = noon) => look(tellAnomalies, database, nowMs);
  return { database, spend, told };
}

onEachStore((store) => {
  test('a key is told of at 50, 80 and 100 % of each cap, once, and only at the highest', async (t) => {
    const { cap, spend, told } = await openCaps(t, store);
    await cap('one', 10, 100);
    await cap('two', 0);
    await spend('free', 'day', '2026-11-21', 1_000);
    await spend('one', 'day', '2026-11-21', 4.999999);
    assert.deepEqual(await told(), []);
    await spend('one', 'day', '2026-11-21', 5);
    assert.deepEqual(await told(), ['key one day 50']);
    await spend('one', 'day', '2026-11-21', 7);
    assert.deepEqual(await told(), []);
    await spend('one', 'day', '2026-11-21', 10.5);
    await spend('one', 'month', '2026-11', 80);
    assert.deepEqual(await told(), ['key one day 100', 'key one month 80']);
    assert.deepEqual(await told(), []);
    await cap('one', 12, 100);
    assert.deepEqual(await told(), ['key one day 80'], 'another cap');
  });

  test('an endpoint that is added later hears of a cap that is reached', async (t) => {
    const { database, cap, spend, told } = await openCaps(t, store);
    await setRows(database, 'alert_endpoints', {}, { types: '["balance.low"]' });
    await cap('one', 1);
    await spend('one', 'day', '2026-11-21', 1);
    assert.deepEqual(await told(), []);
    await setRows(database, 'alert_endpoints', {}, { types: '["cap.reached"]' });
    assert.deepEqual(await told(), ['key one day 100']);
  });

  test('keys of test mode and revoked keys are not told of', async (t) => {
    const { database, cap, spend, told } = await openCaps(t, store);
    for (const key of ['one', 'two']) await cap(key, 1);
    for (const key of ['one', 'two']) await spend(key, 'day', '2026-11-21', 1);
    await setRows(database, 'api_keys', { id: 'one' }, { mode: 'test' });
    await setRows(database, 'api_keys', { id: 'two' }, { revoked_at_ms: 1 });
    assert.deepEqual(await told(), []);
  });

  test('a day that ended between two looks is not forgotten', async (t) => {
    const { cap, spend, told } = await openCaps(t, store);
    await cap('one', 10, 1_000);
    await spend('one', 'day', '2026-11-30', 9);
    await spend('one', 'month', '2026-11', 999);
    const midnight = Date.UTC(2026, 11, 1);
    assert.deepEqual(await told(midnight + 60_000), ['key one day 80', 'key one month 80']);
    await spend('one', 'day', '2026-11-30', 10);
    assert.deepEqual(await told(midnight + hourMs), []);
  });

  test('a member is told of by what all keys of the member have spent', async (t) => {
    const { database, spend, told } = await openCaps(t, store);
    const member = { account_id: 'acc', user_id: 'usr' };
    const budget = { daily_micros: usd(10), monthly_micros: null };
    await database.write
      .insertInto('member_budgets')
      .values({ ...member, ...budget })
      .execute();
    for (const key_id of ['one', 'two'])
      await database.write
        .insertInto('key_owners')
        .values({ key_id, ledger_id: 'acc:live', user_id: 'usr' })
        .execute();
    await spend('one', 'day', '2026-11-21', 4);
    assert.deepEqual(await told(), []);
    await spend('two', 'day', '2026-11-21', 4.5);
    await spend('free', 'day', '2026-11-21', 50);
    assert.deepEqual(await told(), ['member usr day 80']);
  });

  test('more keys than a page are all looked at', async (t) => {
    const { database, cap, spend, told } = await openCaps(t, store);
    const [row] = await rowsOf(database, 'api_keys', { id: 'one' });
    const ids = Array.from({ length: 1_001 }, (_, key) => `a${String(key).padStart(5, '0')}`);
    const rows = ids.map((id) => ({ ...row!, id, digest: id }));
    await database.write.insertInto('api_keys').values(rows).execute();
    await cap('two', 1);
    await spend('two', 'day', '2026-11-21', 1);
    assert.deepEqual(await told(), ['key two day 100']);
  });

  test('an hour at ten times the week’s hourly mean is told of once, and an hour like others is not', async (t) => {
    const { spend, told } = await openHours(t, store);
    // $16.80 in the week: $0.10 an hour.
    for (let hour = 1; hour <= 168; hour++) await spend(hour, 0.1);
    await spend(0, 0.99);
    assert.deepEqual(await told(), []);
    await spend(0, 1);
    assert.partialDeepStrictEqual(await told(), [
      { account_id: 'acc', spent_micros: 1_000_000, usual_micros: 100_000 },
    ]);
    await spend(0, 5);
    assert.deepEqual(await told(), []);
    await spend(0, 1.5);
    await spend(20, 2);
    assert.deepEqual(await told(noon + 5 * 60_000), [], 'told already');
  });

  test('after a week without spending, an hour above all before it is told of', async (t) => {
    const { spend, told } = await openHours(t, store);
    await spend(60 * 24, 3);
    await spend(0, 3);
    assert.deepEqual(await told(), [], 'an earlier hour was as high');
    await spend(0, 50);
    assert.partialDeepStrictEqual(await told(), [
      { account_id: 'acc', spent_micros: 50_000_000, usual_micros: 0 },
    ]);
  });

  test('a first small hour after months without spending hides no larger one', async (t) => {
    const { spend, told } = await openHours(t, store);
    await spend(60 * 24, 3);
    await spend(1, 0.5);
    await spend(0, 3);
    assert.deepEqual(await told(), [], 'an earlier hour was as high');
    await spend(0, 50);
    assert.equal((await told()).length, 1);
  });

  test('rare use, new accounts and small sums are no anomalies', async (t) => {
    const { database, spend, told } = await openHours(t, store);
    await spend(0, 50);
    assert.deepEqual(await told(), [], 'nothing was spent before');
    await spend(30, 1);
    assert.deepEqual(await told(), [], 'it began less than two days ago');
    await spend(100, 60);
    assert.deepEqual(await told(), [], 'an hour of the week was as high');
    await run(database, 'delete from activity_hours');
    await spend(100, 0.01);
    await spend(0, 0.99);
    assert.deepEqual(await told(), [], 'less than a dollar');
    await spend(0, 1);
    assert.equal((await told()).length, 1);
    await spend(7 * 24 + 1, dayMs);
    assert.deepEqual(await told(), []);
  });
});
