// The guarantees of every database behind the port: complete migrations, constraints in its own
// tables, snapshots, revisions.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import type { Micros } from '../../src/lib/money.ts';
import { NulInText } from '../../src/db/text-values.ts';
import type { Tables } from '../../src/db/schema.ts';
import { select } from './books.ts';
import { onEachStore, run } from './stores.ts';

const chargeColumns = `id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, usage_source, price_version, upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, created_at_ms`;

onEachStore((store) => {
  test('the tables are created once, even if two processes start at the same moment', async (t) => {
    const url = await store.createUrl(t);
    const [first, second] = [open(t, url), open(t, url)];
    const ran = await Promise.all([first.migrate(), second.migrate()]);
    assert.deepEqual(ran.flat().toSorted(), Object.keys(migrations[store.dialect]));
    assert.deepEqual(await first.migrate(), []);
  });

  test('a text with a NUL, alone or in a list, is refused before any query', async (t) => {
    const database = await store.openDatabase(t);
    for (const value of ['a\0', ['b', 'a\0']])
      await assert.rejects(
        database.read
          .selectFrom('accounts')
          .selectAll()
          .where('id', 'in', [value].flat())
          .execute(),
        NulInText,
      );
    await assert.rejects(sql`select ${['\0']}`.execute(database.write), NulInText);
  });

  test('a failed migration leaves no trace of itself or of others in its run', async (t) => {
    const database = open(t, await store.createUrl(t));
    const broken = {
      ...migrations[store.dialect],
      '9998-half': {
        up: (db: Kysely<unknown>) =>
          db.schema.createTable('half').addColumn('id', 'text').execute(),
      },
      '9999-broken': {
        up: async () => {
          throw new Error('no');
        },
      },
    };
    await assert.rejects(migrateToLatest(database.write, broken), /9999-broken failed/);
    assert.deepEqual(await namesOfTables(database), []);
    assert.deepEqual(await database.migrate(), Object.keys(migrations[store.dialect]));
  });

  test('a database of the next version can be used beside it, if that lets this version', async (t) => {
    const database = await store.openDatabase(t);
    const known = Object.keys(migrations[store.dialect]);
    const newest = known.at(-1)!.slice(0, 4);
    await addMigration(database, '9997-more');
    await addMigration(database, `9998-less-needs-${newest}`);
    assert.deepEqual(await database.migrate(), []);
    await addMigration(database, `9999-least-needs-9998`);
    await assert.rejects(
      database.migrate(),
      /newer than this version of Tollgate: it has the migration 9999-least-needs-9998, .* restore a backup/,
    );
  });

  test('a database whose migrations are not those of this program is refused', async (t) => {
    const database = await store.openDatabase(t);
    await addMigration(database, '0007-other');
    await assert.rejects(database.migrate(), /it has the migration 0007-other/);
  });

  test('entries and charges can be added, but not changed or removed', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database.write);
    const entry = `insert into entries (id, kind, ledger_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, created_at_ms)
    values ('e', 'credit', 'a:live', 5, 0, 0, 5, 0)`;
    const charge = `insert into charges (${chargeColumns})
      values ('c', 'a:live', 'k', 'm', 'M', 'chat', 'p', 1, 0, 0, 0, 1, 0, 'upstream', '0', 1, 'complete', 0, 5, 0, 5, 0)`;
    for (const insert of [entry, charge]) await run(database, insert);
    for (const table of ['entries', 'charges']) {
      await assert.rejects(run(database, `update ${table} set loss_micros = 1`), /append-only/);
      await assert.rejects(run(database, `delete from ${table}`), /append-only/);
    }
    await assert.rejects(run(database, entry), /unique/i);
  });

  test('the database itself refuses fractional money, negative holds and unknown keys', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database.write);
    const setPosted = (value: number) =>
      database.write
        .updateTable('ledgers')
        .set({ posted_micros: value as Micros })
        .execute();
    await assert.rejects(
      setPosted(1.5),
      /REAL value in INTEGER column|invalid input syntax for type bigint/,
    );
    await assert.rejects(
      run(database, `update ledgers set posted_micros = 'x'`),
      /TEXT value in INTEGER column|invalid input syntax for type bigint/,
    );
    await assert.rejects(run(database, `update ledgers set held_micros = -1`), /check/i);
    await assert.rejects(
      run(database, `insert into key_windows values ('nobody', 'day', '2026-11-21', 0, 0)`),
      /foreign key/i,
    );
    await assert.rejects(
      run(database, `insert into ledgers (id, account_id, mode) values ('b:live', 'a', 'live')`),
      /check/i,
    );
  });

  test('every change of a key or an account raises the revision that caches poll', async (t) => {
    const database = await store.openDatabase(t);
    const readRevision = () => select(database, `select value from revisions where name = 'keys'`);
    const seen = [await readRevision()];
    for (const change of [
      `insert into accounts (id, name, created_at_ms) values ('a', 'A', 0)`,
      `insert into api_keys (id, account_id, mode, name, digest, hint, created_at_ms) values ('k', 'a', 'live', 'K', 'd', 'h', 0)`,
      `update api_keys set revoked_at_ms = 1`,
      `update accounts set frozen = 1`,
      `delete from api_keys`,
    ]) {
      await run(database, change);
      seen.push(await readRevision());
    }
    // A new account has no keys yet, so no cache can contain it.
    assert.deepEqual(seen.flat(2), [0, 0, 1, 2, 3, 4]);
  });

  test('a read-only transaction keeps its view of the database while others write', async (t) => {
    const database = await store.openDatabase(t);
    await database.read
      .transaction()
      .setAccessMode('read only')
      .execute(async (snapshot) => {
        const before = await snapshot.selectFrom('accounts').selectAll().execute();
        await addAccount(database.write);
        assert.deepEqual(await snapshot.selectFrom('accounts').selectAll().execute(), before);
      });
    assert.equal((await database.read.selectFrom('accounts').selectAll().execute()).length, 1);
    await assert.rejects(addAccount(database.read), /readonly|read-only/);
  });
});

function open(t: TestContext, url: string): Database {
  const database = openDatabase(url);
  t.after(() => database.close());
  return database;
}

async function namesOfTables(database: Database): Promise<readonly string[]> {
  return (await database.read.introspection.getTables()).map(({ name }) => name);
}

/** As a newer version records it. */
async function addMigration(database: Database, name: string): Promise<void> {
  await run(
    database,
    `insert into kysely_migration (name, timestamp) values ('${name}', '${new Date().toISOString()}')`,
  );
}

async function addAccount(db: Kysely<Tables>): Promise<void> {
  await db.insertInto('accounts').values({ id: 'a', name: 'A', created_at_ms: 0 }).execute();
  await db.insertInto('ledgers').values({ id: 'a:live', account_id: 'a', mode: 'live' }).execute();
}
