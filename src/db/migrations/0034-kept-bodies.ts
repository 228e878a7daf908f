// Request and answer bodies of keys whose owner wants them kept. Rows are removed by expiry, by age
// beyond a budget, and by generation when an account's stored answers are erased.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const bytes = isSqlite ? 'blob' : 'bytea';
  return [
    `alter table api_keys add column body_days ${integer}`,
    `create table kept_bodies (
      account_id ${id} not null,
      request_id ${id} not null,
      key_id ${id} not null,
      generation ${integer} not null,
      created_at_ms ${integer} not null,
      expires_at_ms ${integer} not null,
      size_bytes ${integer} not null,
      streamed ${integer} not null,
      request_bytes ${integer},
      answer_bytes ${integer},
      request ${bytes},
      answer ${bytes},
      primary key (account_id, request_id)
    ) ${isSqlite ? 'strict' : ''}`,
    // They are compressed and encrypted.
    ...(isSqlite
      ? []
      : ['request', 'answer'].map(
          (column) => `alter table kept_bodies alter column ${column} set storage external`,
        )),
    `create index kept_bodies_by_expiry on kept_bodies (expires_at_ms, account_id, request_id, size_bytes)`,
    `create index kept_bodies_by_age on kept_bodies (created_at_ms, account_id, request_id, size_bytes)`,
    `create index kept_bodies_by_generation on kept_bodies (account_id, generation, request_id, size_bytes)`,
  ];
};

export const keptBodies: Migration = migration(statements(true));
export const keptBodiesOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
