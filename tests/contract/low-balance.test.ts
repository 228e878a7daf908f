// The warnings of a low balance on both stores: once per crossing, by one of any number of gateways.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { mailOwners } from '../../src/domain/alerts/endpoints.ts';
import { tellLowBalances, writeThresholds } from '../../src/domain/alerts/thresholds.ts';
import type { Database } from '../../src/db/database.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { micros } from '../../src/lib/money.ts';
import { rowsOf } from '../support/rows.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const minuteMs = 60_000;
const usd = (amount: number) => micros(amount * 1_000_000);

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  const ledger = await openLedgerInProcess(database.url);
  t.after(() => ledger.close());
  await addAccount(database, 'acc', []);
  let entries = 0;
  const change = (amount: number) =>
    ledger.submit({
      type: amount > 0 ? 'credit' : 'debit',
      entryId: `e${(entries += 1)}`,
      ledgerId: 'acc:live',
      amountMicros: usd(Math.abs(amount)),
      note: '',
    });
  const set = (...amounts: readonly number[]) =>
    writeThresholds(database.write, 'acc', amounts.map(usd));
  return { database, change, set };
}

/** Runs one look; returns the new events' balances and thresholds, in dollars. */
async function look(database: Database, nowMs: number): Promise<number[][]> {
  await tellLowBalances(database, nowMs);
  return (await rowsOf(database, 'events', { created_at_ms: nowMs }))
    .map(({ data }) => JSON.parse(data) as { balance_micros: number; threshold_micros: number })
    .map((data) => [data.balance_micros / 1e6, data.threshold_micros / 1e6]);
}

onEachStore((store) => {
  test('owners are told once when the balance falls below an amount, and again only after it was above it', async (t) => {
    const { database, change, set } = await open(t, store);
    await change(20);
    await set(10);
    assert.deepEqual(await look(database, 1 * minuteMs), []);
    await change(-12);
    assert.deepEqual(await look(database, 2 * minuteMs), [[8, 10]]);
    await change(-1);
    assert.deepEqual(await look(database, 60 * minuteMs), []);
    await change(3);
    assert.deepEqual(await look(database, 61 * minuteMs), [], 'the amount itself is not below it');
    await change(-1);
    assert.deepEqual(await look(database, 62 * minuteMs), [[9, 10]]);
    await set();
    await change(-8);
    assert.deepEqual(await look(database, 63 * minuteMs), []);
  });

  test('of several amounts that the balance falls below at once, owners are told the lowest', async (t) => {
    const { database, change, set } = await open(t, store);
    await change(100);
    await set(50, 20, 10);
    await change(-40);
    assert.deepEqual(await look(database, 1 * minuteMs), []);
    await change(-45);
    assert.deepEqual(await look(database, 2 * minuteMs), [[15, 20]]);
    await change(-6);
    assert.deepEqual(await look(database, 3 * minuteMs), [[9, 10]]);
    await set(50, 20, 10, 9.5);
    assert.deepEqual(
      await look(database, 4 * minuteMs),
      [[9, 9.5]],
      'a new amount is told at once',
    );
    await change(30);
    assert.deepEqual(await look(database, 5 * minuteMs), []);
    await change(-30);
    assert.deepEqual(await look(database, 6 * minuteMs), [[9, 9.5]]);
  });

  test('a clock that is set back does not delay a warning', async (t) => {
    const { database, set } = await open(t, store);
    await set(1);
    assert.deepEqual(await look(database, 1_000 * minuteMs), [[0, 1]]);
    await set();
    await set(2);
    assert.deepEqual(await look(database, minuteMs), [[0, 2]]);
  });

  test('when several gateways look at the same time, one writes the event', async (t) => {
    const { database, set } = await open(t, store);
    await mailOwners(database.write, 'acc', { types: ['balance.low'], nowMs: 1 });
    await set(1);
    await Promise.all([1, 2, 3, 4].map(() => look(database, minuteMs)));
    assert.equal((await rowsOf(database, 'events')).length, 1);
    assert.equal((await rowsOf(database, 'event_deliveries')).length, 1);
  });
});
