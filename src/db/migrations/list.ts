// All migrations in order, under the same names for both databases. The list is static, so that a
// missing file fails at every start and is found before a release. A released migration is never
// edited: the next one corrects it. Migrations only run forward, and the version before must be able
// to serve beside each: docs/decisions/0013-upgrades.md has the rules.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { firstSchema } from './0046-first-schema/schema.ts';
import type { Store } from './0046-first-schema/words.ts';

export type DatabaseMigration = Migration & {
  /**
   * On PostgreSQL: runs statement by statement, for `create index concurrently` and for changes in
   * batches. It must finish what an interrupted run has begun.
   */
  readonly outsideTransaction?: boolean;
};

export type Migrations = Readonly<Record<string, DatabaseMigration>>;

export const migrations: Readonly<Record<Store, Migrations>> = {
  sqlite: migrationsOn('sqlite'),
  postgres: migrationsOn('postgres'),
};

function migrationsOn(store: Store): Migrations {
  const run =
    (statementsOn: (store: Store) => readonly string[]) => async (db: Kysely<unknown>) => {
      for (const statement of statementsOn(store)) await sql.raw(statement).execute(db);
    };
  return { '0046-first-schema': { up: run(firstSchema) } };
}
