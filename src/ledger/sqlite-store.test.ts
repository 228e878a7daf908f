import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Database, sqlitePathOf } from '../db/database.ts';
import { connectSqlite } from '../db/sqlite-connection.ts';
import { type Micros, micros } from '../lib/money.ts';
import { addAccount, creditOf, openTestDatabase, reserveOf, settleOf, startMs } from './fixture.ts';
import { readBalance } from './queries.ts';
import { type Owner, SqliteLease } from './sqlite-lease.ts';
import { SqliteStore } from './sqlite-store.ts';
import { verify } from './verify.ts';

const ledgerId = 'acc:live';
const self: Owner = { owner: 'run_1', host: 'here', pid: 100, processStartedAtMs: 1_000 };

test('a command that cannot be run fails alone; the rest of its batch is written', async (t) => {
  const { database, open } = await openBooks(t);
  const { store } = open();
  const badKey = reserveOf({ ...hold('b'), keyId: 'nobody' }, 1);
  const badAmount = { ...reserveOf(hold('c'), 1), amountMicros: 0.5 as Micros };
  const below = { ...settleOf(hold('a'), 1), costMicros: micros(-1) };
  const tooMuch = creditOf(ledgerId, Number.MAX_SAFE_INTEGER);
  const replies = store.run([
    creditOf(ledgerId, 100),
    reserveOf(hold('a'), 30),
    badKey,
    badAmount,
    below,
    tooMuch,
    settleOf(hold('a'), 20),
  ]);
  assert.deepEqual(
    replies.map(({ type }) => type),
    ['credited', 'held', 'rejected', 'rejected', 'rejected', 'rejected', 'charged'],
  );
  assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 80);
  assert.equal((await verify(database.read)).ok, true);
});

test('a batch waits for another process that writes, and fails whole, with nothing changed, when that takes too long', async (t) => {
  const { database, open } = await openBooks(t);
  const { store, connection } = open();
  connection.exec('pragma busy_timeout = 20');
  const other = open().connection;
  other.exec('begin immediate');
  const replies = store.run([creditOf(ledgerId, 100), creditOf(ledgerId, 200)]);
  assert.deepEqual(
    replies,
    [1, 2].map(() => ({ type: 'rejected', message: 'database is locked' })),
  );
  other.exec('rollback');
  assert.equal(store.run([creditOf(ledgerId, 100)])[0]!.type, 'credited');
  assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 100);
});

test('a hold reserved and settled in one batch is charged', async (t) => {
  const { database, open } = await openBooks(t);
  const { store } = open();
  const batch = [creditOf(ledgerId, 100), reserveOf(hold('a'), 30), settleOf(hold('a'), 20), settleOf(hold('a'), 20)];
  assert.deepEqual(
    store.run(batch).map(({ type }) => type),
    ['credited', 'held', 'charged', 'charged'],
  );
  assert.deepEqual(await verify(database.read), { ok: true, ledgers: 2, entries: 4, charges: 1 });
});

test('holds of a process whose lease ended are given back; those of a process that renews it are kept', async (t) => {
  const { open, clock, held } = await openBooks(t);
  const quiet = open({ owner: 'run_quiet', pid: 1, isRunning: () => true });
  const lively = open({ owner: 'run_lively', pid: 2, isRunning: () => true });
  quiet.store.run([creditOf(ledgerId, 100), { ...reserveOf(hold('a'), 10), owner: 'run_quiet' }]);
  lively.store.run([{ ...reserveOf(hold('b'), 20), owner: 'run_lively' }]);
  for (let seconds = 0; seconds < 60; seconds += 10) {
    assert.equal(lively.store.sweep(), 0, `after ${seconds} s`);
    clock.nowMs += 10_000;
  }
  assert.equal(await held(), 30);
  assert.equal(lively.store.sweep(), 1);
  assert.equal(await held(), 20);
  // The quiet process comes back: its late settlement is charged from what is available, and it may place holds again.
  const [charged, reserved] = quiet.store.run([settleOf(hold('a'), 10), { ...reserveOf(hold('c'), 5), owner: 'run_quiet' }]);
  assert.deepEqual(
    [charged, reserved?.type],
    [{ type: 'charged', chargedMicros: 10, lossMicros: 0, availableMicros: 70 }, 'held'],
  );
  assert.equal(lively.store.sweep(), 0);
});

test('after a kill the next start gives back at once what was held, also when it gets the same pid', async (t) => {
  const { open, held, database } = await openBooks(t);
  const killed = open({ owner: 'run_killed', pid: 7, processStartedAtMs: 1 });
  killed.store.run([creditOf(ledgerId, 100), { ...reserveOf(hold('a'), 10), owner: 'run_killed' }]);
  const sameProcess = open({ owner: 'run_other', pid: 7, processStartedAtMs: 1 });
  assert.equal(sameProcess.store.sweep(), 0, 'two ledgers of one process keep their hands off each other');
  const elsewhere = open({ owner: 'run_elsewhere', host: 'there', pid: 8, isRunning: () => false });
  assert.equal(elsewhere.store.sweep(), 0, 'a pid says nothing about another machine');
  const restarted = open({ owner: 'run_restarted', pid: 7, processStartedAtMs: 2 });
  assert.equal(restarted.store.sweep(), 1);
  assert.equal(await held(), 0);
  assert.equal((await verify(database.read)).ok, true);
});

test('a process on this machine that no longer runs loses its holds at the next sweep', async (t) => {
  const { open, held } = await openBooks(t);
  const running = new Set([7, 8]);
  const options = { isRunning: (pid: number) => running.has(pid) };
  const first = open({ owner: 'run_first', pid: 7, ...options });
  const second = open({ owner: 'run_second', pid: 8, ...options });
  first.store.run([creditOf(ledgerId, 100), { ...reserveOf(hold('a'), 10), owner: 'run_first' }]);
  assert.equal(second.store.sweep(), 0);
  running.delete(7);
  assert.equal(second.store.sweep(), 1);
  assert.equal(await held(), 0);
});

test('a ledger that closes leaves nothing behind that another would wait for', async (t) => {
  const { open, held } = await openBooks(t);
  const first = open({ owner: 'run_first', pid: 7, isRunning: () => true });
  first.store.run([creditOf(ledgerId, 100), { ...reserveOf(hold('a'), 10), owner: 'run_first' }]);
  first.store.close();
  const second = open({ owner: 'run_second', pid: 8, isRunning: () => true });
  assert.equal(second.store.sweep(), 1);
  assert.equal(await held(), 0);
});

test('a lease is renewed by the batches too, so that no hold is ever placed without one', async (t) => {
  const { open, clock } = await openBooks(t);
  const sleeper = open({ owner: 'run_1' });
  const other = open({ owner: 'run_2', pid: 2, isRunning: () => true });
  sleeper.store.run([creditOf(ledgerId, 100)]);
  clock.nowMs += 3_600_000;
  other.store.sweep();
  assert.equal(sleeper.store.run([reserveOf(hold('a'), 10)])[0]!.type, 'held');
  assert.equal(other.store.sweep(), 0);
  // Undone with its transaction, the renewal is made again.
  clock.nowMs += 3_600_000;
  other.store.sweep();
  sleeper.store.run([{ ...creditOf(ledgerId, 1), amountMicros: micros(-1) }]);
  sleeper.store.run([reserveOf(hold('b'), 10)]);
  assert.equal(other.store.sweep(), 0);
});

function hold(id: string) {
  return { holdId: id, ledgerId, keyId: 'k' } as const;
}

type OpenOptions = Partial<Owner> & { readonly isRunning?: (pid: number) => boolean };

async function openBooks(t: TestContext) {
  const database: Database = await openTestDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const clock = { nowMs: startMs };
  return {
    database,
    clock,
    held: async () => (await readBalance(database.read, ledgerId))?.heldMicros,
    /** As another process would open it. */
    open: ({ isRunning, ...owner }: OpenOptions = {}) => {
      const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
      t.after(() => connection.close());
      const lease = new SqliteLease(connection, { ...self, ...owner }, isRunning);
      return { connection, store: new SqliteStore(connection, { clock: () => clock.nowMs, lease }) };
    },
  };
}
