// A gateway of the previous version works on while this one migrates PostgreSQL: no migration since
// that version stops it for as long as a large table takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { openDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import type { DatabaseMigration } from '../../src/db/migrations/list.ts';
import { migrations as migrationsOfNext } from '../support/made-up-migration.ts';
import { createEmptyDatabase, databaseNameOf, postgresServer } from '../support/postgres.ts';
import previousVersion from '../support/previous-version.json' with { type: 'json' };
import { fillLargeTables, watchMigration } from '../support/watched-migration.ts';

/** With a made-up migration, so that there is always one to look at. */
const all = Object.entries(migrationsOfNext.postgres);
const next = all.findIndex(([name]) => name === previousVersion.newestMigration) + 1;

/** A database of the previous version with large tables. */
const filled = await createEmptyDatabase();
const database = openDatabase(filled);
await migrateToLatest(database.write, Object.fromEntries(all.slice(0, next)));
await database.close();
await fillLargeTables(filled);

async function copy(): Promise<string> {
  const [name, original] = [`${databaseNameOf(filled)}_${++copies}`, databaseNameOf(filled)];
  const server = await postgresServer();
  await server.query(`create database ${name} template ${original} strategy file_copy`);
  return filled.replace(`/${original}?`, `/${name}?`);
}
let copies = 0;

test('the previous version is one of this history', () => assert.ok(next > 0));

test('no migration since the previous version locks a large table while it works on its rows', async () => {
  const url = await copy();
  for (const [name, migration] of all.slice(next))
    assert.deepEqual(await watchMigration(url, migration), [], name);
});

const run = (...statements: string[]): DatabaseMigration['up'] => {
  return async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  };
};

const bad: Readonly<Record<string, readonly [DatabaseMigration, problem: RegExp]>> = {
  'a column whose default differs by row': [
    { up: run('alter table entries add column x text default gen_random_uuid()::text') },
    /holds entries locked/,
  ],
  'an index that is not built concurrently': [
    { up: run('create index x on entries (id)') },
    /holds entries locked/,
  ],
  'the same outside a transaction': [
    { up: run('create index x on charges (id)'), outsideTransaction: true },
    /holds .*charges_history.* locked/,
  ],
  'an update of all rows': [
    { up: run(`update api_keys set name = 'x'`) },
    /^changes all rows in one transaction/,
  ],
  'another type of a column': [
    { up: run('alter table charges alter column attempts type numeric') },
    /holds .*charges.* locked/,
  ],
  'a check of all rows': [
    { up: run(`alter table ledgers add constraint x check (mode <> '')`) },
    /holds ledgers locked/,
  ],
  'a column that must not be null': [
    { up: run('alter table audit_log alter column after set not null') },
    /holds audit_log locked/,
  ],
  'a report under a lock': [
    { up: run('lock table ledgers in share mode', 'create table x as select * from accounts') },
    /holds ledgers locked/,
  ],
};
for (const [name, [migration, problem]] of Object.entries(bad)) {
  test(`the check finds ${name}`, async () => {
    const url = await copy();
    if (name.includes('null')) await fillNulls(url);
    const problems = await watchMigration(url, migration);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0]!, problem);
  });
}

async function fillNulls(url: string): Promise<void> {
  const statement = `set session_replication_role = replica; update audit_log set after = 'x'`;
  await (await postgresServer()).query(statement, databaseNameOf(url));
}

const good: Readonly<Record<string, DatabaseMigration>> = {
  'a column with a constant default': {
    up: run('alter table charges add column x bigint not null default 0'),
  },
  'a new table with an index, filled from a large one': {
    up: run(
      'create table x (id text primary key)',
      'create index x_by_id on x (id)',
      'insert into x select id from accounts',
    ),
  },
  'an index that is built concurrently': {
    up: run('create index concurrently x on entries (id)'),
    outsideTransaction: true,
  },
  'a check that is validated after it was added': {
    up: run(
      `alter table ledgers add constraint x check (mode <> '') not valid`,
      'alter table ledgers validate constraint x',
    ),
    outsideTransaction: true,
  },
  'an update in batches': { up: updateInBatches, outsideTransaction: true },
};
for (const [name, migration] of Object.entries(good)) {
  test(`the check allows ${name}`, async () => {
    assert.deepEqual(await watchMigration(await copy(), migration), []);
  });
}

async function updateInBatches(db: Kysely<unknown>): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`update api_keys set name = 'x' where id in
      (select id from api_keys where name <> 'x' limit 1000)`.execute(db);
    if (numAffectedRows === 0n) return;
  }
}
