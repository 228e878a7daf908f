// Behaviour of SQLite only: one writer for the whole file, and processes on one machine that can
// check each other's pids.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Database, sqlitePathOf } from '../../../db/database.ts';
import { connectSqlite } from '../../../db/sqlite/connection.ts';
import { micros } from '../../../lib/money.ts';
import type { Command } from '../commands.ts';
import {
  addAccount,
  creditOf,
  openTestDatabase,
  reserveOf,
  settleOf,
  startMs,
} from '../../../../tests/support/ledger/test-ledger.ts';
import { Random } from '../../../../tests/support/random.ts';
import { scaled } from '../../../../tests/support/volume.ts';
import { readBalance } from '../reports/queries.ts';
import type { Owner } from '../lease.ts';
import { SqliteLease } from './lease.ts';
import { SqliteStore } from './store.ts';
import { verify } from '../reports/verify.ts';

const ledgerId = 'acc:live';
const self: Owner = { owner: 'run_1', host: 'here', pid: 100, processStartedAtMs: 1_000 };

test('a batch waits for another writing process, and throws with nothing changed when that takes too long', async (t) => {
  const { database, open } = await openBooks(t);
  const { store, connection } = open();
  connection.exec('pragma busy_timeout = 20');
  const other = open().connection;
  other.exec('begin immediate');
  const batch = [creditOf(ledgerId, 100), creditOf(ledgerId, 200)];
  assert.throws(() => store.run(batch), /database is locked/);
  other.exec('rollback');
  assert.equal(store.run([creditOf(ledgerId, 100)])[0]!.type, 'credited');
  assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 100);
});

test('a batch that fails on a full disk is rolled back completely, even if one of its commands cannot be run', async (t) => {
  const { database, open } = await openBooks(t);
  const { store, connection } = open();
  const before = await verify(database.read);
  const [pages] = Object.values(connection.prepare('pragma page_count').get()!);
  connection.exec(`pragma max_page_count = ${pages as number}`);
  const bad = reserveOf({ ...hold('a'), keyId: 'nobody' }, 1);
  const [first, ...others] = Array.from({ length: 500 }, (_, index) =>
    creditOf(ledgerId, 1, `credit ${index}`),
  );
  const batch = [first!, bad, ...others];
  assert.throws(() => store.run(batch), /full/);
  assert.deepEqual(await verify(database.read), before);
  connection.exec('pragma max_page_count = 1000000');
  const types = new Set(store.run(batch).map(({ type }) => type));
  assert.deepEqual(types, new Set(['rejected', 'credited']));
  assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 500);
});

test('only money movements wait for the disk: a power cut loses running requests, but never a charge', async (t) => {
  const { open } = await openBooks(t);
  const { store, connection } = open();
  const waits = (commands: readonly Command[]) => {
    assert.ok(store.run(commands).every(({ type }) => type !== 'rejected'));
    return Object.values(connection.prepare('pragma synchronous').get()!)[0] === 2;
  };
  assert.equal(waits([creditOf(ledgerId, 100)]), true);
  assert.equal(waits([reserveOf(hold('a'), 30), reserveOf(hold('b'), 30)]), false);
  assert.equal(waits([{ type: 'release', holdId: 'b', lossMicros: micros(0) }]), false);
  assert.equal(waits([reserveOf(hold('c'), 30), settleOf(hold('a'), 20)]), true);
  assert.equal(waits([reserveOf(hold('d'), 10)]), false);
  assert.equal(waits([creditOf(ledgerId, 1)]), true);
});

test('after a kill the next start releases all holds at once, even with the same pid', async (t) => {
  const { open, held, database } = await openBooks(t);
  const killed = open({ owner: 'run_killed', pid: 7, processStartedAtMs: 1 });
  const likelyCost = { atOnceMicros: micros(30), perSecondMicros: micros(0) };
  killed.store.run([
    creditOf(ledgerId, 100),
    { ...reserveOf(hold('a'), 10), likelyCost, owner: 'run_killed' },
  ]);
  const sameProcess = open({ owner: 'run_other', pid: 7, processStartedAtMs: 1 });
  // Two ledgers of one process do not release each other’s holds.
  assert.equal(sameProcess.store.sweep(), 0);
  const elsewhere = open({ owner: 'run_elsewhere', host: 'there', pid: 8, isRunning: () => false });
  assert.equal(elsewhere.store.sweep(), 0, 'a pid of another machine is not checked');
  const restarted = open({ owner: 'run_restarted', pid: 7, processStartedAtMs: 2 });
  assert.equal(restarted.store.sweep(), 1);
  assert.equal(await held(), 0);
  const books = await verify(database.read);
  // The likely cost is a loss, at most the held amount.
  assert.equal(books.ok && books.failedMicros, 10);
});

test('holds of a dead process on this machine are released at the next sweep', async (t) => {
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

test('the estimated cost of killed processes equals their real cost on average', async (t) => {
  const { open, clock, database } = await openBooks(t);
  const random = new Random('killed processes');
  const likelyCost = { atOnceMicros: micros(1_000), perSecondMicros: micros(800) };
  open().store.run([creditOf(ledgerId, 1_000_000_000)]);
  const kills = scaled(200, 1_000);
  let costMicros = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const owner = `run_killed_${kill}`;
    const { store, connection } = open({ owner, pid: 1_000 + kill, processStartedAtMs: kill });
    const runsMs = random.below(20_000);
    const sweepsFromMs = random.below(1_000);
    store.sweep();
    const startedAtMs = clock.nowMs + sweepsFromMs;
    clock.nowMs = startedAtMs;
    store.run([{ ...reserveOf(hold(owner), 1_000_000), likelyCost, owner }]);
    // Renews its lease every second.
    for (let ms = 1_000 - sweepsFromMs; ms < runsMs; ms += 1_000) {
      clock.nowMs = startedAtMs + ms;
      store.sweep();
    }
    costMicros +=
      likelyCost.atOnceMicros + Math.round((likelyCost.perSecondMicros * runsMs) / 1_000);
    connection.close();
    // The time until the next start does not matter.
    clock.nowMs = startedAtMs + runsMs + random.below(100_000);
    const next = { owner: `run_next_${kill}`, pid: 1, processStartedAtMs: kill };
    open({ ...next, isRunning: () => false }).store.sweep();
  }
  const books = await verify(database.read);
  assert.ok(books.ok);
  const bias = books.failedMicros / costMicros - 1;
  t.diagnostic(
    `${kills} kills: cost ${costMicros}, booked ${books.failedMicros}, bias ${(bias * 100).toFixed(2)} %`,
  );
  assert.ok(Math.abs(bias) <= 0.01, `cost ${costMicros}, booked ${books.failedMicros}`);
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
    /** Opens the store like another process. */
    open: ({ isRunning, ...owner }: OpenOptions = {}) => {
      const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
      t.after(() => connection.isOpen && connection.close());
      const lease = new SqliteLease(connection, { ...self, ...owner }, isRunning);
      return {
        connection,
        store: new SqliteStore(connection, { clock: () => clock.nowMs, lease }),
      };
    },
  };
}
