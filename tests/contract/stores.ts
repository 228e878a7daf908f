// The two stores behind one interface, for suites that both must pass.
import { describe } from 'node:test';
import { sql } from 'kysely';
import { type Database, openDatabase, sqlitePathOf } from '../../src/db/database.ts';
import { connectSqlite } from '../../src/db/sqlite/connection.ts';
import type { Command, Reply } from '../../src/domain/ledger/commands.ts';
import type { Expire } from '../../src/domain/ledger/core.ts';
import type { Hooks } from '../support/file-hooks.ts';
import { openTestDatabase, startMs } from '../support/ledger/test-ledger.ts';
import { isChosen } from '../support/test-store.ts';
import { ledgerPool } from '../../src/domain/ledger/postgres/ledger.ts';
import { PostgresLease } from '../../src/domain/ledger/postgres/lease.ts';
import { PostgresStore } from '../../src/domain/ledger/postgres/store.ts';
import { SqliteLease } from '../../src/domain/ledger/sqlite/lease.ts';
import { SqliteStore } from '../../src/domain/ledger/sqlite/store.ts';
import {
  createDatabase,
  createEmptyDatabase,
  databaseNameOf,
  postgresServer,
} from '../support/postgres.ts';

type Clock = { nowMs: number };

type OpenStore = {
  readonly run: (commands: readonly (Command | Expire)[]) => Promise<readonly Reply[]>;
  readonly sweep: () => Promise<number>;
  readonly close: () => Promise<void>;
};

export type StoreKind = {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly dialect: 'sqlite' | 'postgres';
  /** Returns the URL of a new empty database. */
  readonly createUrl: (t: Hooks) => Promise<string>;
  /** Opens a migrated database, closed after the test. */
  readonly openDatabase: (t: Hooks) => Promise<Database>;
  /** Opens the store like another process, named `owner`. Without an owner it has no lease. */
  readonly openStore: (
    t: Hooks,
    database: Database,
    options?: { owner?: string; clock?: Clock },
  ) => OpenStore;
  /** Runs statements like an operator at the SQL prompt, also several at once. */
  readonly execute: (database: Database, statements: string) => Promise<void>;
  /** The statements that remove the triggers of append-only tables. */
  readonly withoutGuards: string;
};

const actions = ['update', 'delete'];
const guarded = ['entries', 'charges', 'prices'];

const sqlite: StoreKind = {
  name: 'SQLite',
  dialect: 'sqlite',
  createUrl: async (t) => (await openTestDatabase(t)).url.replace('test.db', 'empty.db'),
  openDatabase: openTestDatabase,
  openStore: (t, database, { owner, clock = { nowMs: startMs } } = {}) => {
    const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
    t.after(() => connection.close());
    const self = { owner: owner ?? '', host: 'here', pid: pidOf(owner), processStartedAtMs: 1 };
    const lease = owner === undefined ? undefined : new SqliteLease(connection, self, () => true);
    const store = new SqliteStore(connection, { clock: () => clock.nowMs, lease });
    return {
      run: async (commands) => store.run(commands),
      sweep: async () => store.sweep(),
      close: async () => store.close(),
    };
  },
  execute: async (database, statements) => {
    const connection = connectSqlite(sqlitePathOf(database.url), { readOnly: false });
    connection.exec(statements);
    connection.close();
  },
  withoutGuards: guarded
    .flatMap((table) => actions.map((action) => `drop trigger ${table}_refuse_${action}`))
    .join('; '),
};

const postgres: StoreKind = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  createUrl: () => createEmptyDatabase(),
  openDatabase: async (t) => {
    const database = openDatabase(await createDatabase());
    t.after(() => database.close());
    return database;
  },
  openStore: (t, database, { owner, clock = { nowMs: startMs } } = {}) => {
    const pool = ledgerPool(database.url);
    t.after(() => pool.end());
    const self = { owner: owner ?? '', host: 'here', pid: pidOf(owner), processStartedAtMs: 1 };
    const lease = owner === undefined ? undefined : new PostgresLease(self, () => clock.nowMs);
    return new PostgresStore(pool, { clock: () => clock.nowMs, lease });
  },
  execute: async (database, statements) => {
    await (await postgresServer()).query(statements, databaseNameOf(database.url));
  },
  withoutGuards: guarded
    .flatMap((table) =>
      actions.map((action) => `drop trigger ${table}_refuse_${action} on ${table}`),
    )
    .join('; '),
};

const stores: readonly StoreKind[] = [sqlite, postgres];

/** Runs a suite on each store; on PostgreSQL alone if TOLLGATE_TEST_DATABASE names it. */
export function onEachStore(suite: (store: StoreKind) => void): void {
  for (const store of stores.filter(({ dialect }) => isChosen(dialect)))
    void describe(`on ${store.name}`, () => suite(store));
}

export async function run(database: Database, statement: string): Promise<void> {
  await sql.raw(statement).execute(database.write);
}

/** Owners on one machine have different pids. */
function pidOf(owner = ''): number {
  return 1 + Buffer.from(owner).reduce((sum, byte) => sum + byte, 0);
}
