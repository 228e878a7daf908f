// Provoked losses, summed by day: which ones count, booked from several processes at once, and
// forgiven.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { transact } from '../../src/db/transact.ts';
import { forgiveLosses, readLosses } from '../../src/domain/ledger/reports/caused-losses.ts';
import { hasPaid } from '../../src/domain/ledger/reports/queries.ts';
import { signUpCreditId, type Release } from '../../src/domain/ledger/commands.ts';
import { micros } from '../../src/lib/money.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { assertVerifies, holdOf } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';
const provoked = (holdId: string, loss: number): Release => ({
  type: 'release',
  holdId,
  lossMicros: micros(loss),
  isCausedByAccount: true,
});

onEachStore((store) => {
  test('uncollected costs and losses marked as provoked count; failures and expired holds do not', async (t) => {
    const { database, open, read, clock } = await openBooks(t, store);
    const books = open('run_1');
    await books.run([
      creditOf(ledgerId, 100),
      ...['a', 'b', 'c', 'd'].map((id) => reserveOf(holdOf(id), 10)),
    ]);
    await books.run([
      settleOf(holdOf('a'), 90),
      provoked('b', 7),
      { type: 'release', holdId: 'c', lossMicros: micros(5) },
    ]);
    // The expired hold's room is gone, which is our own fault.
    await books.run([
      { type: 'expire', holdId: 'd', ownerEndedAtMs: null },
      settleOf(holdOf('d'), 50),
    ]);
    clock.nowMs += 86_400_000;
    await books.run([reserveOf(holdOf('e'), 0), provoked('e', 2), provoked('e', 2)]);
    const losses = await read();
    assert.deepEqual(losses?.days, [
      // Of a's cost of 90, the other holds left room for 70.
      { day: '2026-11-21', micros: 27 },
      { day: '2026-11-22', micros: 2 },
    ]);
    assert.equal(losses.spentMicros, 100);
    assert.deepEqual((await read('2026-11-22'))?.days, [{ day: '2026-11-22', micros: 2 }]);
    await assertVerifies(database);
  });

  test('losses booked by several processes at once, each command twice, count once', async (t) => {
    const { database, open, read } = await openBooks(t, store);
    const processes = [open('run_1'), open('run_2'), open('run_3')];
    const rounds = Array.from({ length: 30 }, (_, round) =>
      processes.map(async (books, index) => {
        const own = holdOf(`h${round}-${index}`);
        const shared = holdOf(`s${round}`);
        await books.run([reserveOf(own, 0), reserveOf(shared, 0)]);
        return books.run([
          provoked(own.holdId, 3),
          provoked(own.holdId, 3),
          provoked(shared.holdId, 1),
        ]);
      }),
    );
    await Promise.all(rounds.flat());
    assert.deepEqual((await read())?.days, [{ day: '2026-11-21', micros: 30 * 3 * 3 + 30 }]);
    await assertVerifies(database);
  });

  test('forgiven losses no longer count, later ones do', async (t) => {
    const { database, open, read } = await openBooks(t, store);
    const books = open('run_1');
    const lose = async (id: string, loss: number) =>
      books.run([reserveOf(holdOf(id), 0), provoked(id, loss)]);
    const forgive = () =>
      transact(database.write, (transaction) => forgiveLosses(transaction, 'acc'));
    await lose('a', 9);
    assert.equal(await forgive(), 9);
    assert.deepEqual(await read(), { causedMicros: 0, days: [], spentMicros: 0 });
    assert.equal(await forgive(), 0);
    await lose('b', 4);
    assert.deepEqual((await read())?.days, [{ day: '2026-11-21', micros: 4 }]);
    await assertVerifies(database);
  });

  test('an account counts as paying after a credit beyond its sign-up credit', async (t) => {
    const { database, open } = await openBooks(t, store);
    const books = open('run_1');
    assert.equal(await hasPaid(database.read, ledgerId), false);
    await books.run([
      creditOf(ledgerId, 100, signUpCreditId('acc')),
      creditOf(ledgerId, 0, 'nothing'),
    ]);
    await books.run([{ ...creditOf(ledgerId, 5, 'taken'), type: 'debit' }]);
    assert.equal(await hasPaid(database.read, ledgerId), false);
    await books.run([creditOf(ledgerId, 1, 'top-up')]);
    assert.equal(await hasPaid(database.read, ledgerId), true);
  });
});

async function openBooks(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const clock = { nowMs: startMs };
  return {
    database,
    clock,
    open: (owner: string) => store.openStore(t, database, { owner, clock }),
    read: async (fromDay = '2026-11-01') =>
      (await readLosses(database.read, { ledgerId, fromDay })).get(ledgerId),
  };
}
