// The history of requests, for the account's pages: what the ledger does not book about each, and
// latencies by day. The table of recent errors is copied and no longer used; a gateway of the
// version before may still write it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  return [
    `create table request_log (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      created_at_ms ${integer} not null,
      request_id ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      path text not null,
      outcome ${id} not null check (outcome in ('charged', 'hit', 'idempotent-replay', 'failed')),
      code ${id},
      status ${integer} not null,
      streamed ${integer} not null,
      duration_ms ${integer},
      first_byte_ms ${integer},
      saved_micros ${integer} not null,
      input_tokens ${integer} not null,
      output_tokens ${integer} not null,
      details text not null,
      primary key (account_id, mode, created_at_ms, request_id)
    ) ${isSqlite ? 'strict, without rowid' : ''}`,
    `create index request_log_by_request on request_log (request_id)`,
    `create index request_log_by_age on request_log (created_at_ms)`,
    // Charged requests are listed from the ledger.
    `create index request_log_uncharged on request_log
      (account_id, mode, created_at_ms desc, request_id desc) where outcome <> 'charged'`,
    `insert into request_log
      select account_id, mode, created_at_ms, request_id, key_id, model_id, path, 'failed', code, 0, 0,
        null, null, 0, 0, 0, '{}'
      from recent_errors`,
    `create table latency_days (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      day ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      provider ${id} not null,
      kind ${id} not null check (kind = 'first' or kind = 'whole'),
      latency_bucket ${integer} not null,
      requests ${integer} not null,
      primary key (account_id, mode, day, key_id, model_id, provider, kind, latency_bucket)
    ) ${isSqlite ? 'strict, without rowid' : ''}`,
    `create index latency_days_by_day on latency_days (day)`,
  ];
};

export const requestHistory: Migration = migration(statements(true));
export const requestHistoryOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
