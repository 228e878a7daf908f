// Settings that operators save: domain/settings/settings-versions.ts.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const table = `
create table settings_versions (
  version INT primary key, created_at_ms INT not null, author text not null, note text not null,
  rereads_file FLAG not null, sealed text not null, secret_id ID not null
) STRICT;
`;

export function savedSettings(store: Store): Migration {
  return {
    up: async (db) => {
      for (const statement of statementsOf(table, store)) await sql.raw(statement).execute(db);
    },
  };
}
