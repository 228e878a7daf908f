// Runs the pending migrations in one transaction: all of them or none.
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Migrations } from './migrations/list.ts';
import type { Tables } from './schema.ts';

/**
 * Returns the names of the migrations that ran, in order. Throws, with nothing changed, when one
 * fails or the database is newer than this version.
 */
export async function migrateToLatest(
  db: Kysely<Tables>,
  migrations: Migrations,
): Promise<readonly string[]> {
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const { error, results = [] } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) {
    const failed = results.find((result) => result.status === 'Error')?.migrationName;
    const where = failed
      ? `the migration ${failed} failed`
      : 'its migrations do not match this version of Tollgate';
    throw new Error(`The database was left as it was: ${where}.`, { cause: error });
  }
  return results.map((result) => result.migrationName);
}
