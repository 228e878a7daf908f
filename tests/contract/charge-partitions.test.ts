// Partitions of charges on PostgreSQL: the first, those of days to come, and days that leave.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { ledgerPool } from '../../src/domain/ledger/postgres/ledger.ts';
import { PostgresStore } from '../../src/domain/ledger/postgres/store.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { look, type LookEvent } from '../../src/domain/ledger/seals/look.ts';
import {
  countPartitions,
  createPartitions,
  dropPartitions,
} from '../../src/domain/ledger/seals/partitions.ts';
import { createDatabase, databaseNameOf, postgresServer } from '../support/postgres.ts';
import { addAccount, creditOf, reserveOf, settleOf } from '../support/ledger/test-ledger.ts';
import { assertVerifies, holdOf, kindsOf } from './books.ts';
import { run } from './stores.ts';

const dayMs = 86_400_000;
/** A month after any day on which this runs: the first partition ends with the day. */
const startMs = (Math.floor(Date.now() / dayMs) + 30) * dayMs + dayMs / 2;

async function open(t: TestContext, url: string) {
  const database = openDatabase(url);
  t.after(() => database.close());
  const pool = ledgerPool(url);
  t.after(() => pool.end());
  const clock = { nowMs: startMs };
  const store = new PostgresStore(pool, { clock: () => clock.nowMs });
  return { database, store, clock };
}

async function query(database: Database, statement: string): Promise<unknown[]> {
  return (await postgresServer()).query(statement, databaseNameOf(database.url));
}

async function partitionsOf(database: Database): Promise<readonly string[]> {
  const rows = await query(
    database,
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'charges'::regclass order by 1`,
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

const partitionOf = (timeMs: number) =>
  `charges_${new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '_')}`;

test('charges of the first day are in the first partition, where none can be changed or removed', async (t) => {
  const { database, store, clock } = await open(t, await createDatabase());
  clock.nowMs = Date.now();
  await addAccount(database, 'acc', ['k']);
  const one = holdOf('h');
  await store.run([creditOf('acc:live', 1_000), reserveOf(one, 5), settleOf(one, 5)]);
  assert.deepEqual(await partitionsOf(database), ['charges_default', 'charges_history']);
  const [row] = await query(database, 'select tableoid::regclass::text as place from charges');
  assert.deepEqual({ ...(row as object) }, { place: 'charges_history' });
  for (const table of ['charges', 'charges_history']) {
    for (const change of [`update ${table} set cost_micros = 1`, `delete from ${table}`])
      await assert.rejects(query(database, change), /append-only/);
    await assert.rejects(query(database, `truncate ${table}`), /append-only/);
  }
});

test('partitions of coming days are made, a few in each look; charges dated ahead do not stop them', async (t) => {
  const { database, store, clock } = await open(t, await createDatabase());
  await addAccount(database, 'acc', ['k']);
  clock.nowMs = startMs + dayMs;
  const early = holdOf('early');
  await store.run([creditOf('acc:live', 1_000), reserveOf(early, 5), settleOf(early, 5)]);
  await createPartitions(database.write, startMs);
  const first = [startMs, startMs + 2 * dayMs].map(partitionOf);
  assert.deepEqual(
    await partitionsOf(database),
    [...first, 'charges_default', 'charges_history'].toSorted(),
  );
  await createPartitions(database.write, startMs);
  await createPartitions(database.write, startMs);
  assert.equal((await partitionsOf(database)).length, 2 + 6);
  clock.nowMs = startMs + 2 * dayMs;
  const late = holdOf('late');
  await store.run([reserveOf(late, 5), settleOf(late, 5)]);
  const rows = await query(
    database,
    `select id, tableoid::regclass::text as place from charges order by id`,
  );
  assert.deepEqual(
    (rows as object[]).map((row) => ({ ...row })),
    [
      { id: 'early', place: 'charges_default' },
      { id: 'late', place: partitionOf(clock.nowMs) },
    ],
  );
  await assertVerifies(database);
});

test('an old day is dropped with its partition, after its export; without one it is deleted', async (t) => {
  const exportFolder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
  t.after(() => rmSync(exportFolder, { recursive: true }));
  const { database, store, clock } = await open(t, await createDatabase());
  await addAccount(database, 'acc', ['k']);
  // The first two days have no partition of their own.
  await createPartitions(database.write, startMs + 2 * dayMs);
  await store.run([creditOf('acc:live', 1_000)]);
  for (let day = 0; day < 40; day++) {
    const one = holdOf(`h${day}`);
    await store.run([reserveOf(one, 5), settleOf(one, 5)]);
    clock.nowMs += dayMs;
  }
  clock.nowMs += dayMs;
  await run(database, `update sealing set trusted_ms = ${clock.nowMs}`);
  const events: LookEvent[] = [];
  const retention = { chargesDays: 35, exportFolder };
  await look({
    database,
    owner: 'one',
    retention,
    tell: (event) => events.push(event),
    nowMs: () => clock.nowMs,
  });
  assert.deepEqual([...new Set(kindsOf(events))], ['sealed', 'removed', 'done']);
  const partitions = await partitionsOf(database);
  for (const day of [2, 3, 4]) assert.ok(!partitions.includes(partitionOf(startMs + day * dayMs)));
  assert.ok(!partitions.includes('charges_history'), 'it ended before');
  const oldest = database.read.selectFrom('charges').select('id').orderBy('created_at_ms').limit(1);
  assert.equal((await oldest.executeTakeFirst())?.id, 'h6');
  await assertVerifies(database);
});

test('a partition is not dropped while the books are verified', async (t) => {
  const { database } = await open(t, await createDatabase());
  await addAccount(database, 'acc', ['k']);
  await createPartitions(database.write, startMs);
  const before = await partitionsOf(database);
  const attempt = async () => {
    await assert.rejects(
      query(database, `begin; set local lock_timeout = 100; drop table ${partitionOf(startMs)}`),
      /lock timeout/,
    );
    return null;
  };
  assert.ok((await verify(database.read, [attempt])).ok);
  assert.deepEqual(await partitionsOf(database), before);
  await dropPartitions(database.write, await countPartitions(database.read, startMs + dayMs));
  assert.ok(!(await partitionsOf(database)).includes(partitionOf(startMs)));
});
