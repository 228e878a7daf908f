// The pace at which balances are spent, and the balances that run out, on both databases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysLeft, listLowBalances, readPace } from '../../src/domain/ledger/reports/runway.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { onEachStore } from './stores.ts';

const dayMs = 86_400_000;

onEachStore((store) => {
  test('a balance lasts as long as the last seven complete days say', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'a', ['k']);
    await addAccount(database, 'b', ['l']);
    await addAccount(database, 'c', ['m']);
    const clock = { nowMs: startMs };
    const books = store.openStore(t, database, { clock });
    let made = 0;
    const charge = async (account: string, keyId: string, cost: number) => {
      const hold = { holdId: `h${(made += 1)}`, ledgerId: `${account}:live`, keyId } as const;
      await books.run([reserveOf(hold, cost), settleOf(hold, cost)]);
    };
    const pace = () => readPace(database.read, 'a:live', clock.nowMs);
    const low = async (withinDays = 7) =>
      (await listLowBalances(database.read, { nowMs: clock.nowMs, withinDays, limit: 10 })).map(
        ({ accountId, pace: own, availableMicros }) => [accountId, daysLeft(availableMicros, own)],
      );
    await books.run([creditOf('a:live', 1_000), creditOf('b:live', 100), creditOf('c:live', 9)]);

    await charge('a', 'k', 90);
    assert.equal(await pace(), null, 'today is not over');
    clock.nowMs += dayMs;
    assert.deepEqual(await pace(), { dailyMicros: 90, days: 1 });
    clock.nowMs += dayMs;
    await charge('a', 'k', 500);
    assert.deepEqual(await pace(), { dailyMicros: 45, days: 2 });
    clock.nowMs += dayMs;
    // 590 in three days, rounded up.
    assert.deepEqual(await pace(), { dailyMicros: 197, days: 3 });
    assert.deepEqual(await low(), [['a', 2]]);

    await charge('b', 'l', 99);
    await charge('c', 'm', 9);
    clock.nowMs += dayMs;
    assert.deepEqual(await low(), [
      ['c', 0],
      ['b', 0],
      ['a', 2],
    ]);
    assert.deepEqual(await low(1), [
      ['c', 0],
      ['b', 0],
    ]);
    await database.write.updateTable('accounts').set({ frozen: 1 }).where('id', '=', 'c').execute();
    assert.deepEqual((await low(1)).length, 1, 'a frozen account spends nothing');

    clock.nowMs += 20 * dayMs;
    assert.equal(await pace(), null);
    assert.deepEqual(await low(), []);
  });
});
