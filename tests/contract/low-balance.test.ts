// The low-balance warning on both stores: once per crossing, by one of any number of gateways.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setThreshold, warnOfLowBalances } from '../../src/domain/billing/low-balance.ts';
import type { Database } from '../../src/db/database.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { micros } from '../../src/lib/money.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const minuteMs = 60_000;

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  const ledger = await openLedgerInProcess(database.url);
  t.after(() => ledger.close());
  await addAccount(database, 'acc', []);
  let entries = 0;
  const change = (usd: number) =>
    ledger.submit({
      type: usd > 0 ? 'credit' : 'debit',
      entryId: `e${(entries += 1)}`,
      ledgerId: 'acc:live',
      amountMicros: micros(Math.abs(usd) * 1_000_000),
      note: '',
    });
  return { database, change };
}

/** Runs one check; returns the balances, in dollars, for which owners were warned. */
async function look(database: Database, nowMs: number, fail = false): Promise<number[]> {
  const sent: number[] = [];
  const send = async ({ balanceMicros }: { readonly balanceMicros: number }) => {
    if (fail) throw new Error('no mail today');
    sent.push(balanceMicros / 1_000_000);
  };
  await warnOfLowBalances(database, { send, onError: () => {}, nowMs });
  return sent;
}

onEachStore((store) => {
  test('owners are warned once when the balance falls below the threshold, and again only after it was above it', async (t) => {
    const { database, change } = await open(t, store);
    await change(20);
    await setThreshold(database, 'acc', micros(10_000_000));
    assert.deepEqual(await look(database, 1 * minuteMs), []);
    await change(-12);
    assert.deepEqual(await look(database, 2 * minuteMs), [8]);
    await change(-1);
    assert.deepEqual(await look(database, 60 * minuteMs), []);
    await change(3);
    assert.deepEqual(
      await look(database, 61 * minuteMs),
      [],
      'the threshold itself is not below it',
    );
    await change(-1);
    assert.deepEqual(await look(database, 62 * minuteMs), [9]);
    await setThreshold(database, 'acc', null);
    await change(-8);
    assert.deepEqual(await look(database, 63 * minuteMs), []);
  });

  test('a clock that is set back does not delay the warning', async (t) => {
    const { database } = await open(t, store);
    await setThreshold(database, 'acc', micros(1));
    assert.deepEqual(await look(database, 1_000 * minuteMs, true), []);
    assert.deepEqual(await look(database, minuteMs), [0]);
  });

  test('when several gateways look at the same time, one sends the warning', async (t) => {
    const { database } = await open(t, store);
    await setThreshold(database, 'acc', micros(1));
    const sent = await Promise.all([1, 2, 3, 4].map(() => look(database, minuteMs)));
    assert.deepEqual(sent.flat(), [0]);
  });

  test('a warning that could not be sent is sent later', async (t) => {
    const { database } = await open(t, store);
    await setThreshold(database, 'acc', micros(1));
    assert.deepEqual(await look(database, minuteMs, true), []);
    assert.deepEqual(
      await look(database, 2 * minuteMs),
      [],
      'another gateway may still be sending',
    );
    assert.deepEqual(await look(database, 20 * minuteMs), [0]);
    assert.deepEqual(await look(database, 40 * minuteMs), []);
  });
});
