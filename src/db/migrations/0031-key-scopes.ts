// What a key may do. Keys from before have all scopes.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keyScopes: Migration = {
  up: async (db) => {
    await sql.raw(`alter table api_keys add column scopes text`).execute(db);
  },
};
