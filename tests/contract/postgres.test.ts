// Behaviour of PostgreSQL only: outages, restarts and connections cut at any moment, and wrong
// database URLs. After each, the client's log is compared with the ledger.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { examinePostgres } from '../../src/cli/doctor-database.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { DatabaseUnusable } from '../../src/db/database-error.ts';
import { connectPool } from '../../src/db/postgres/pool.ts';
import type { Ledger } from '../../src/domain/ledger/commands.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { openLedger, openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { ledgerPool } from '../../src/domain/ledger/postgres/ledger.ts';
import { PostgresLease } from '../../src/domain/ledger/postgres/lease.ts';
import { PostgresStore } from '../../src/domain/ledger/postgres/store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import {
  createDatabase,
  databaseNameOf,
  postgresServer,
  startPostgres,
} from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { assertVerifies, typesOf } from './books.ts';

const creditMicros = 100_000_000;

test(
  'connections that are cut under load, at any statement, cost nothing and charge nothing twice',
  { timeout: 120_000 },
  async (t) => {
    const { database, ledgers, journal, charging } = await startCharging(t);
    const server = await postgresServer();
    let cut = 0;
    for (let round = 0; round < 40; round++) {
      await chargeMore(journal, 1 + Math.random() * 40);
      cut += await server.cutConnections(databaseNameOf(database.url));
    }
    await finish({ database, ledgers, journal, charging });
    assert.ok(cut >= 20, `${cut} connections were cut`);
    t.diagnostic(`${cut} connections cut: ${journal.size} charges, 0 lost, 0 double, 0 held`);
  },
);

test(
  'a server that is restarted, or crashes, under load costs nothing and charges nothing twice',
  { timeout: 120_000 },
  async (t) => {
    const server = await startPostgres();
    const { database, ledgers, journal, charging } = await startCharging(
      t,
      await server.createDatabase(),
    );
    for (const mode of ['fast', 'immediate', 'fast', 'immediate'] as const) {
      await chargeMore(journal, 50 + Math.random() * 50);
      await server.restart(mode, 200);
    }
    await chargeMore(journal, 50);
    await finish({ database, ledgers, journal, charging });
    t.diagnostic(`4 restarts: ${journal.size} charges, 0 lost, 0 double, 0 held`);
  },
);

test('a transaction with a lost commit response is recognised by its ids, or never happened', async (t) => {
  const { database } = await openBooks(t);
  const pool = ledgerPool(database.url);
  t.after(() => pool.end());
  const store = new PostgresStore(pool);
  const server = await postgresServer();
  await store.run([creditOf('acc:live', creditMicros)]);
  const cutAfterTurns = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    return server.cutConnections(databaseNameOf(database.url));
  };
  let unknown = 0;
  for (let round = 0; round < 60; round++) {
    const asked = { holdId: `h${round}`, ledgerId: 'acc:live', keyId: 'k' } as const;
    const batch = [reserveOf(asked, 10), settleOf(asked, 7)];
    const cutting = cutAfterTurns(Math.random() * 200);
    let replies = null;
    while (replies === null) {
      replies = await store.run(batch).catch(() => {
        unknown += 1;
        return null;
      });
    }
    assert.deepEqual(typesOf(replies), ['held', 'charged']);
    await cutting;
  }
  const balance = await again(() => readBalance(database.read, 'acc:live'));
  assert.deepEqual([balance?.postedMicros, balance?.heldMicros], [creditMicros - 60 * 7, 0]);
  await assertVerifies(database);
  t.diagnostic(`${unknown} answers lost on the way`);
});

test('a batch that waited for a lock sees the latest commits, not an old snapshot', async (t) => {
  const { database } = await openBooks(t);
  const pool = ledgerPool(database.url);
  t.after(() => pool.end());
  const store = new PostgresStore(pool);
  const asked = { holdId: 'h', ledgerId: 'acc:live', keyId: 'k' } as const;
  await store.run([creditOf('acc:live', 100), reserveOf(asked, 60)]);
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query(`select from ledgers where id = 'acc:live' for update`);
  const charges = [store.run([settleOf(asked, 60)]), store.run([settleOf(asked, 60)])];
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await sql.raw(waiting).execute(database.read)).rows.length === 2);
  await blocker.query('commit');
  blocker.release();
  const replies = (await Promise.all(charges)).flat();
  assert.deepEqual(replies[0], replies[1]);
  assert.equal((await readBalance(database.read, 'acc:live'))?.postedMicros, 40);
  assert.deepEqual(await verify(database.read), {
    ok: true,
    ledgers: 2,
    entries: 4,
    charges: 1,
    uncollectedMicros: 0,
    failedMicros: 0,
  });
});

test('after an outage, living processes renew their leases before any sweep', async (t) => {
  const { database } = await openBooks(t);
  const pool = ledgerPool(database.url);
  t.after(() => pool.end());
  const clock = { nowMs: startMs };
  const open = (owner: string) => {
    const lease = new PostgresLease(
      { owner, host: 'here', pid: 1, processStartedAtMs: 1 },
      () => clock.nowMs,
    );
    return new PostgresStore(pool, { clock: () => clock.nowMs, lease });
  };
  const [first, second] = [open('run_1'), open('run_2')];
  await first.run([
    creditOf('acc:live', 100),
    reserveOf({ holdId: 'h', ledgerId: 'acc:live', keyId: 'k' }, 60),
  ]);
  await second.sweep();
  clock.nowMs += 3_600_000;
  assert.equal(await second.sweep(), 0);
  assert.equal(await first.sweep(), 0);
  assert.equal(await second.sweep(), 0, 'the hold of a process that lives was given back');
  clock.nowMs += 3_600_000;
  // Batches and timers renew the lease too, which gives the others no more time.
  await second.run([
    { ...reserveOf({ holdId: 'i', ledgerId: 'acc:live', keyId: 'k' }, 10), owner: 'run_2' },
  ]);
  await second.renewLease();
  assert.equal(await second.sweep(), 0, 'the hold of a process that lives was given back');
  await first.renewLease();
  assert.equal(await second.sweep(), 0);
  clock.nowMs += 30_000;
  await second.sweep();
  clock.nowMs += 30_000;
  assert.equal(await second.sweep(), 1, 'that process has died since');
});

test('pages of charges are read in index order, for any number of charges', async (t) => {
  const { database } = await openBooks(t);
  const pool = ledgerPool(database.url);
  t.after(() => pool.end());
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) select * from charges where ledger_id = 'acc:live' and (created_at_ms, id) < (5, 'a')
     order by created_at_ms desc, id desc limit 21`,
  );
  const plan = rows.map((row) => row['QUERY PLAN'].trim());
  const cond = `Index Cond: ((ledger_id = 'acc:live'::text) AND (ROW(created_at_ms, id) < ROW(5, 'a'::text)))`;
  const steps = plan.filter((line) => line.startsWith('->')).map((line) => line.split(' on ')[0]);
  // Each partition is read in its order, and no further than the page.
  assert.deepEqual(steps, [
    '->  Merge Append',
    '->  Index Scan using charges_history_ledger_id_created_at_ms_id_idx1',
    '->  Index Scan using charges_default_ledger_id_created_at_ms_id_idx1',
  ]);
  assert.equal(plan.filter((line) => line === cond).length, 2);
});

test('integers that a double cannot hold exactly are refused, not rounded', async (t) => {
  const pool = connectPool(await createDatabase(), { max: 1, statementTimeoutMs: 1_000 });
  t.after(() => pool.end());
  assert.deepEqual((await pool.query('select 9007199254740991::int8 as value')).rows, [
    { value: 9_007_199_254_740_991 },
  ]);
  await assert.rejects(
    pool.query('select 9007199254740993::int8'),
    /9007199254740993, which cannot be read as an exact number/,
  );
  assert.deepEqual((await pool.query('select 1::int8 as value')).rows, [{ value: 1 }]);
});

test('commits are durable before they are acknowledged, even if the server is configured otherwise', async (t) => {
  const url = await createDatabase();
  const server = await postgresServer();
  await server.query(`alter database ${databaseNameOf(url)} set synchronous_commit = off`);
  const pool = ledgerPool(url);
  t.after(() => pool.end());
  assert.deepEqual((await pool.query('show synchronous_commit')).rows, [
    { synchronous_commit: 'on' },
  ]);
});

test('settings that a role or a database has for others do not reach the gateway', async (t) => {
  const url = await createDatabase();
  const server = await postgresServer();
  const usual = {
    default_transaction_isolation: ['serializable', 'read committed'],
    lock_timeout: ['100', '0'],
    datestyle: ['German', 'ISO, DMY'],
  };
  for (const [name, [other]] of Object.entries(usual))
    await server.query(`alter database ${databaseNameOf(url)} set ${name} = '${other}'`);
  const pool = ledgerPool(url);
  t.after(() => pool.end());
  for (const [name, [, value]] of Object.entries(usual)) {
    const { rows } = await pool.query<{ value: string }>(
      // Behind a pooler, each transaction names its isolation instead.
      `select current_setting('${name.replace('default_', '')}') as value`,
    );
    assert.deepEqual(rows, [{ value }], name);
  }
});

test('a database whose encoding lacks most letters is refused with a remedy', async (t) => {
  const server = await postgresServer();
  const url = await server.createDatabase();
  const name = databaseNameOf(url);
  await server.query(
    `create database latin_${name} template template0 encoding 'LATIN1' locale 'C'`,
  );
  const latin = url.replace(name, `latin_${name}`);
  const database = openDatabase(latin);
  t.after(() => database.close());
  await assert.rejects(database.migrate(), /has the encoding LATIN1.* --encoding=UTF8/);
  assert.match(JSON.stringify(await examinePostgres(latin)), /has the encoding LATIN1/);
});

test('an unusable database URL is reported with a remedy and without the password', async () => {
  const url = await (await postgresServer()).createDatabase();
  const password = 'postgres-password-000111';
  const mistakes: readonly (readonly [string, RegExp])[] = [
    [
      url.replace(password, `${password}x`),
      /refused the user tollgate\. Check the user and password/,
    ],
    [
      url.replace('/books_', '/absent_'),
      /has no database absent_\w+\. Create it with "createdb absent_/,
    ],
    [
      `postgres://me:${password}@127.0.0.1:1/x`,
      /cannot be reached at 127\.0\.0\.1:1 \(ECONNREFUSED\)\. Check the host and port/,
    ],
    [`postgres://me:${password}@nowhere.invalid/x`, /cannot be reached at nowhere\.invalid/],
    [`${url}&sslmode=require`, /does not offer TLS\. Remove sslmode/],
  ];
  for (const [mistake, expected] of mistakes) {
    const database = openDatabase(mistake);
    const error = await database.migrate().then(
      () => null,
      (reason: unknown) => reason,
    );
    await database.close();
    assert.ok(error instanceof DatabaseUnusable, `${mistake}: ${String(error)}`);
    assert.match(error.message, expected);
    assert.ok(!error.message.includes(password));
    await assert.rejects(openLedgerInProcess(mistake), expected);
  }
});

test('a user who may not create tables gets the grant to run', async () => {
  const server = await postgresServer();
  const url = await server.createEmptyDatabase();
  await server.query(`create role guest login password 'guest'`);
  const database = openDatabase(url.replace(/\/\/[^@]+@/, '//guest:guest@'));
  await assert.rejects(
    database.migrate(),
    /The user guest may not create tables in the database books_\w+\. Run "grant create/,
  );
  await database.close();
});

type Charging = {
  readonly database: Database;
  readonly ledgers: readonly Ledger[];
  /** The charges that clients were told about. */
  readonly journal: Set<string>;
  readonly charging: { isOver: boolean; done: Promise<unknown> };
};

/** Two gateways that charge one account as fast as they can. */
async function startCharging(t: TestContext, url?: string): Promise<Charging> {
  const { database } = await openBooks(t, url);
  const ledgers = await Promise.all(
    ['run_1', 'run_2'].map((owner) =>
      openLedger({ databaseUrl: database.url, owner, clock: systemClock }),
    ),
  );
  await ledgers[0]!.submit(creditOf('acc:live', creditMicros));
  const journal = new Set<string>();
  const charging = { isOver: false, done: Promise.resolve() as Promise<unknown> };
  const chargeOn = async (ledger: Ledger, lane: string) => {
    for (let number = 0; !charging.isOver; number++) {
      const asked = { holdId: `${lane}-${number}`, ledgerId: 'acc:live', keyId: 'k' } as const;
      const held = await ledger.submit({
        ...reserveOf(asked, 10, { daily: creditMicros }),
        owner: `run_${lane[0]}`,
      });
      assert.equal(held.type, 'held');
      const charged = await ledger.submit(settleOf(asked, 7));
      assert.equal(charged.type, 'charged');
      journal.add(asked.holdId);
    }
  };
  charging.done = Promise.all(
    ledgers.flatMap((ledger, index) =>
      Array.from({ length: 8 }, (_, lane) => chargeOn(ledger, `${index + 1}-${lane}`)),
    ),
  );
  return { database, ledgers, journal, charging };
}

/** Resolves after that many further charges. */
async function chargeMore(journal: ReadonlySet<string>, count: number): Promise<void> {
  const target = journal.size + count;
  await until(() => journal.size >= target);
}

async function finish({ database, ledgers, journal, charging }: Charging): Promise<void> {
  charging.isOver = true;
  await charging.done;
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  const charges = await again(() =>
    database.read.selectFrom('charges').select(['id', 'cost_micros']).execute(),
  );
  assert.deepEqual(new Set(charges.map(({ id }) => id)), journal);
  assert.equal(charges.length, journal.size);
  const balance = await readBalance(database.read, 'acc:live');
  assert.deepEqual(
    [balance?.postedMicros, balance?.heldMicros],
    [creditMicros - 7 * journal.size, 0],
  );
  await assertVerifies(database);
}

/** A query on a connection that was cut while idle may fail once. */
async function again<Result>(query: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await query();
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

async function openBooks(t: TestContext, url?: string): Promise<{ readonly database: Database }> {
  const database = openDatabase(url ?? (await createDatabase()));
  t.after(() => database.close());
  await addAccount(database, 'acc', ['k']);
  return { database };
}
