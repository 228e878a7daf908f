// Keys that are disabled temporarily. Unlike a revoked key, a disabled key can be enabled again.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const disabledKeys: Migration = migration('integer');
export const disabledKeysOnPostgres: Migration = migration('bigint');

function migration(integer: string): Migration {
  return {
    up: async (db) => {
      await sql.raw(`alter table api_keys add column disabled_at_ms ${integer}`).execute(db);
    },
  };
}
