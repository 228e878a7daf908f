// What becomes of databases with other migrations than a new one has: those that were made in steps
// before the first release, and those that a later version has changed.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { columnsOf, tables } from '../../src/db/tables.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import {
  addAccount,
  creditOf,
  extendOf,
  reserveOf,
  settleOf,
} from '../support/ledger/test-ledger.ts';
import { madeUpNames, migrations as migrationsOfNext } from '../support/made-up-migration.ts';
import { holdOf, select, typesOf } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

/** Credits 100, charges 30 and holds 20. */
async function openWithBooks(t: TestContext, store: StoreKind): Promise<Database> {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  await store
    .openStore(t, database)
    .run([
      creditOf('acc:live', 100),
      reserveOf(holdOf('a'), 40),
      settleOf(holdOf('a'), 30),
      reserveOf(holdOf('b'), 20),
    ]);
  return database;
}

/** Extends the hold, and charges it. */
async function goesOn(t: TestContext, store: StoreKind, database: Database): Promise<void> {
  const replies = await store
    .openStore(t, database)
    .run([extendOf(holdOf('b'), 1, 30), settleOf(holdOf('b'), 50)]);
  assert.deepEqual(typesOf(replies), ['held', 'charged']);
  const books = await verify(database.read);
  assert.ok(books.ok && books.charges === 2, JSON.stringify(books));
}

async function contentOf({ read }: Database): Promise<Record<string, unknown[]>> {
  const content: Record<string, unknown[]> = {};
  for (const { name } of await read.introspection.getTables({ withInternalKyselyTables: true }))
    content[name] = (await sql`select * from ${sql.table(name)}`.execute(read)).rows;
  return content;
}

/** Replaces what the database has recorded. */
async function record({ write }: Database, names: readonly string[]): Promise<void> {
  await sql`delete from kysely_migration`.execute(write);
  for (const name of names)
    await sql`insert into kysely_migration (name, timestamp)
      values (${name}, '2026-11-26T00:00:00.000Z')`.execute(write);
}

const steps = ['0019-admin-keys', '0020-smaller-rows', '0035-first-schema', '0046-clients'];

onEachStore((store) => {
  test('the migrations leave the tables with the columns that are described', async (t) => {
    const { read } = await store.openDatabase(t);
    const made = new Map(
      (await read.introspection.getTables()).map(({ name, columns }) => [name, columns]),
    );
    for (const [name, described] of Object.entries(tables))
      assert.deepEqual(
        made
          .get(name)
          ?.map((column) => column.name)
          .toSorted(),
        columnsOf(described)
          .map(([column]) => column)
          .toSorted(),
        name,
      );
  });

  test('a database that ran all steps before the first schema goes on unchanged', async (t) => {
    const database = await openWithBooks(t, store);
    await record(database, steps);
    const before = await contentOf(database);
    assert.ok(before['entries']!.length > 1 && before['holds']!.length === 1);
    assert.deepEqual(await database.migrate(), []);
    assert.deepEqual(await contentOf(database), before);
    await goesOn(t, store, database);
  });

  test('a database that lacks the last of these steps is refused unchanged, with a remedy', async (t) => {
    const database = await store.openDatabase(t);
    for (const names of [steps.slice(0, -1), steps.slice(0, 1), [...steps.slice(0, 2), '0047-x']]) {
      await record(database, names);
      const before = await contentOf(database);
      await assert.rejects(database.migrate(), {
        name: 'DatabaseUnusable',
        message: /it lacks the migration 0046-clients.* start it once with the commit aa4b15c9/,
      });
      assert.deepEqual(await contentOf(database), before);
    }
  });

  for (const madeBy of ['the first schema', 'steps'] as const)
    test(`a later migration runs once on a database made by ${madeBy}, and the version before goes on`, async (t) => {
      const database = await openWithBooks(t, store);
      if (madeBy === 'steps') await record(database, steps);
      const next = migrationsOfNext[store.dialect];
      assert.deepEqual(await migrateToLatest(database.write, next), madeUpNames);
      assert.deepEqual(await migrateToLatest(database.write, next), []);
      assert.deepEqual(await select(database, 'select made_up from charges'), [[0]]);

      const before = openDatabase(database.url);
      t.after(() => before.close());
      assert.deepEqual(await before.migrate(), []);
      await goesOn(t, store, before);
    });

  test('a new database gets the first schema and later migrations at once', async (t) => {
    const database = openDatabase(await store.createUrl(t));
    t.after(() => database.close());
    const next = migrationsOfNext[store.dialect];
    const names = [...Object.keys(migrations[store.dialect]), ...madeUpNames];
    assert.deepEqual(await migrateToLatest(database.write, next), names);
    assert.deepEqual(await database.migrate(), []);
  });
});
