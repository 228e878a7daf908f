import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../src/db/database.ts';
import type { Micros } from '../../src/lib/money.ts';
import { addAccount, creditOf, reserveOf, settleOf } from '../support/ledger/test-ledger.ts';
import { openLedger, openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { TestClock } from '../support/test-clock.ts';
import { assertVerifies, holdOf } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';
const clock = new TestClock();
const time = { clock, databaseTime: clock.shared };

onEachStore((store) => {
  test('500 concurrent requests on a balance for 137 place exactly 137 holds', async (t) => {
    const database = await openBooks(t, store);
    const ledger = await openLedger({ databaseUrl: database.url, owner: 'run_1', ...time });
    await ledger.submit(creditOf(ledgerId, 137 * 1_000 + 999));
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        ledger.submit(reserveOf(holdOf(`h${index}`), 1_000)),
      ),
    );
    assert.equal(outcomes.filter(({ type }) => type === 'held').length, 137);
    assert.equal(outcomes.filter(({ type }) => type === 'insufficient-balance').length, 363);
    assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 999);
    await ledger.close();
    await assertVerifies(database);
  });

  test('500 concurrent requests under a daily cap for 41, from two ledgers on one database, place exactly 41 holds', async (t) => {
    const database = await openBooks(t, store);
    const ledgers = await Promise.all(
      ['run_1', 'run_2'].map((owner) => openLedger({ databaseUrl: database.url, owner, ...time })),
    );
    await ledgers[0]!.submit(creditOf(ledgerId, 1_000_000));
    const asked = Array.from({ length: 500 }, (_, index) => {
      const command = reserveOf(holdOf(`h${index}`), 100, { daily: 4_199 });
      return ledgers[index % 2]!.submit({ ...command, owner: `run_${(index % 2) + 1}` });
    });
    const outcomes = await Promise.all(asked);
    assert.equal(outcomes.filter(({ type }) => type === 'held').length, 41);
    assert.equal(outcomes.filter(({ type }) => type === 'key-daily-limit').length, 459);
    await assertVerifies(database);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  });

  test("every other reader sees a command's effect once its outcome was returned", async (t) => {
    const database = await openBooks(t, store);
    const ledger = await openLedger({ databaseUrl: database.url, owner: 'run_1', ...time });
    await ledger.submit(creditOf(ledgerId, 100));
    await ledger.submit(reserveOf(holdOf('a'), 60));
    assert.deepEqual(await ledger.submit(settleOf(holdOf('a'), 45)), {
      type: 'charged',
      chargedMicros: 45,
      lossMicros: 0,
      availableMicros: 55,
    });
    assert.equal((await readBalance(database.read, ledgerId))?.availableMicros, 55);
    await ledger.close();
  });

  test('the command line credits and debits beside a gateway that is charging', async (t) => {
    const database = await openBooks(t, store);
    const gateway = await openLedger({ databaseUrl: database.url, owner: 'run_1', ...time });
    const admin = await openLedgerInProcess(database.url);
    await admin.submit(creditOf(ledgerId, 1_000_000));
    const charging = Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        await gateway.submit(reserveOf(holdOf(`h${index}`), 20));
        return gateway.submit(settleOf(holdOf(`h${index}`), 10));
      }),
    );
    for (let index = 0; index < 20; index++) {
      await admin.submit({
        ...creditOf(ledgerId, 7, `e${index}`),
        type: index % 2 ? 'debit' : 'credit',
      });
      await setImmediate();
    }
    await charging;
    assert.equal(
      (await readBalance(database.read, ledgerId))?.availableMicros,
      1_000_000 - 200 * 10,
    );
    await assert.rejects(
      admin.submit({ ...creditOf(ledgerId, 1), amountMicros: 0.5 as Micros }),
      /microdollars/,
    );
    await assertVerifies(database);
    await admin.close();
    await gateway.close();
  });

  test('a ledger without its tables does not open and reports the reason', async (t) => {
    const database = await store.openDatabase(t);
    await database.write.schema.dropTable('holds').execute();
    await assert.rejects(
      openLedger({ databaseUrl: database.url, owner: 'run_1', ...time }),
      /no such table: holds|relation "holds" does not exist/,
    );
  });

  test('a process killed while charging loses no confirmed charge, repeats none and leaves no holds', async (t) => {
    const database = await openBooks(t, store);
    const kills = 5;
    const confirmed: string[] = [];
    for (let start = 0; start < kills; start++) {
      confirmed.push(
        ...(await chargeUntilKilled(
          database.url,
          `run_${start}`,
          1 + Math.floor(100 * Math.random()),
        )),
      );
    }
    await sweepAfterAnHour(t, database, store);
    const balance = await readBalance(database.read, ledgerId);
    const charges = await database.read
      .selectFrom('charges')
      .select(['id', 'cost_micros'])
      .execute();
    const charged = new Set(charges.map(({ id }) => id));
    assert.deepEqual(
      confirmed.filter((id) => !charged.has(id)),
      [],
      'lost',
    );
    assert.deepEqual(
      [balance?.heldMicros, balance?.postedMicros],
      [0, kills * 1_000_000_000 - charges.length * 7],
    );
    assert.ok(charges.every((charge) => charge.cost_micros === 7));
    await assertVerifies(database);
    t.diagnostic(
      `${kills} kills: ${confirmed.length} charges confirmed, ${charges.length} made, 0 lost, 0 held`,
    );
  });
});

/**
 * The ids that a charging process confirmed before it was killed, after at least the given number.
 */
async function chargeUntilKilled(
  databaseUrl: string,
  name: string,
  charges: number,
): Promise<readonly string[]> {
  const program = fileURLToPath(new URL('../support/ledger/charging-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, databaseUrl, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let isEnding = false;
  // A line truncated by the kill was not confirmed.
  const confirmed = () => output.split('\n').slice(0, -1);
  for await (const bytes of child.stdout) {
    output += String(bytes);
    if (confirmed().length < charges || isEnding) continue;
    isEnding = true;
    // Varies the moment of the kill relative to the last confirmation.
    void turns(500 * Math.random()).then(() => child.kill('SIGKILL'));
  }
  assert.ok(
    confirmed().length >= charges,
    `it ended by itself after ${confirmed().length} charges`,
  );
  return confirmed();
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** A time at which the leases of all killed processes have expired. */
async function sweepAfterAnHour(
  t: TestContext,
  database: Database,
  store: StoreKind,
): Promise<void> {
  const books = store.openStore(t, database, {
    owner: 'run_last',
    clock: { nowMs: Date.now() + 3_600_000 },
  });
  await books.sweep();
  await books.sweep();
}

async function openBooks(t: TestContext, store: StoreKind): Promise<Database> {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  return database;
}
