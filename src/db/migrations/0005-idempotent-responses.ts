// Requests under an Idempotency-Key: running ones, and the answers of successful ones, for 24
// hours.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  return [
    `create table idempotent_responses (
      key_id ${id} not null references api_keys (id),
      key_digest ${id} not null,
      fingerprint ${id} not null,
      state text not null check (state = 'running' or state = 'stored'),
      owner ${id} not null,
      request_id ${id} not null unique,
      status ${integer},
      content_type text,
      headers text,
      body ${isSqlite ? 'blob' : 'bytea'},
      stored_at_ms ${integer},
      expires_at_ms ${integer},
      primary key (key_id, key_digest),
      check ((state = 'stored') = (expires_at_ms is not null))
    ) ${isSqlite ? 'strict' : ''}`,
    `create index idempotent_responses_by_expiry on idempotent_responses (expires_at_ms)`,
  ];
};

export const idempotentResponses: Migration = migration(statements(true));
export const idempotentResponsesOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
