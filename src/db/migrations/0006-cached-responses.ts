// The content cache, and two account settings for it: whether answers are stored, and a generation
// that a purge raises. One index serves expiry, age and size, because all rows are kept equally
// long and the oldest expire first.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  return [
    `alter table accounts add column retain_responses ${isSqlite ? 'integer' : 'smallint'} not null default 1
      check (retain_responses = 0 or retain_responses = 1)`,
    `alter table accounts add column cache_generation ${integer} not null default 0`,
    `create index accounts_purged on accounts (id, cache_generation, retain_responses)
      where cache_generation > 0 or retain_responses = 0`,
    `create table cached_responses (
      account_id ${id} not null,
      digest ${id} not null,
      generation ${integer} not null,
      content_type text not null,
      headers text not null,
      body ${isSqlite ? 'blob' : 'bytea'} not null,
      size_bytes ${integer} not null,
      created_at_ms ${integer} not null,
      expires_at_ms ${integer} not null,
      primary key (account_id, digest)
    ) ${isSqlite ? 'strict' : ''}`,
    `create index cached_responses_by_expiry on cached_responses (expires_at_ms, account_id, digest, size_bytes)`,
    `create index cached_responses_by_generation on cached_responses (account_id, generation)`,
  ];
};

export const cachedResponses: Migration = migration(statements(true));
export const cachedResponsesOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
