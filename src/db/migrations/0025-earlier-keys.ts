// Earlier texts of rotated keys, which work until their overlap ends.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  return [
    `create table earlier_keys (
      digest ${id} primary key,
      key_id ${id} not null references api_keys (id),
      secret_id ${id},
      hint text not null,
      expires_at_ms ${integer} not null
    ) ${isSqlite ? 'strict' : ''}`,
    `create index earlier_keys_by_key on earlier_keys (key_id)`,
  ];
};

export const earlierKeys: Migration = migration(statements(true));
export const earlierKeysOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
