// Data for the dashboard: details of each charge; sums of charges by day, kept by the ledger;
// counters of uncharged requests; each account's last errors; and provider latencies. The daily
// sums also tell on which days a filter can find anything.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict, without rowid' : '';
  /** Leaves room on each page for the next version of a rewritten row. */
  const hot = isSqlite ? strict : 'with (fillfactor = 50)';
  const count = (column: string) => `${column} ${integer} not null check (${column} >= 0)`;
  const known = (table: string, column: string) =>
    `alter table ${table} add column ${column} ${integer} check (${column} >= 0)`;
  const day = isSqlite
    ? `strftime('%Y-%m-%d', created_at_ms / 1000, 'unixepoch')`
    : `to_char(to_timestamp(created_at_ms / 1000) at time zone 'UTC', 'YYYY-MM-DD')`;
  return [
    `alter table charges add column attempts ${integer} not null default 1 check (attempts >= 1)`,
    known('charges', 'duration_ms'),
    known('charges', 'first_byte_ms'),
    ...['idempotent_responses', 'cached_responses'].flatMap((table) =>
      ['cost_micros', 'input_tokens', 'output_tokens'].map((column) => known(table, column)),
    ),

    // Rare values: without an index they would be searched for in all rows.
    `create index charges_cut_off on charges (ledger_id, created_at_ms desc, id desc) where ending = 'cut-off'`,
    // Credits and debits have no key.
    `create index entries_adjustments on entries (ledger_id, created_at_ms desc, seq desc) where key_id is null`,

    `create table charge_days (
      ledger_id ${id} not null,
      day ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      endpoint ${id} not null,
      ${['requests', 'input_tokens', 'cached_tokens', 'output_tokens', 'images'].map(count).join(', ')},
      ${['cost_micros', 'upstream_cost_micros', 'loss_micros'].map(count).join(', ')},
      primary key (ledger_id, day, key_id, model_id, endpoint)
    ) ${hot}`,
    // The day of a rewritten row does not change.
    `create index charge_days_by_day on charge_days (day)`,
    `insert into charge_days select ledger_id, ${day}, key_id, model_id, endpoint, count(*),
      sum(input_tokens + cache_read_tokens + cache_write_tokens + cache_write_1h_tokens), sum(cache_read_tokens),
      sum(output_tokens), sum(images), sum(cost_micros), sum(upstream_cost_micros), sum(loss_micros)
      from charges group by 1, 2, 3, 4, 5`,

    `create table activity_days (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      day ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      outcome ${id} not null,
      ${['requests', 'saved_micros', 'input_tokens', 'output_tokens'].map(count).join(', ')},
      primary key (account_id, mode, day, key_id, model_id, outcome)
    ) ${hot}`,
    `create index activity_days_by_day on activity_days (day)`,

    `create table recent_errors (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      created_at_ms ${integer} not null,
      request_id ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      path text not null,
      code text not null,
      primary key (account_id, mode, created_at_ms, request_id)
    ) ${strict}`,
    `create index recent_errors_by_age on recent_errors (created_at_ms)`,

    `create table key_uses (key_id ${id} primary key, last_used_at_ms ${integer} not null) ${hot}`,
    `insert into key_uses select key_id, max(created_at_ms) from charges group by key_id`,

    `create table provider_hours (
      hour ${id} not null,
      provider ${id} not null,
      kind ${id} not null check (kind = 'stream' or kind = 'whole'),
      ending ${id} not null,
      latency_bucket ${integer} not null,
      ${count('calls')},
      primary key (hour, provider, kind, ending, latency_bucket)
    ) ${hot}`,
  ];
};

export const activity: Migration = migration(statements(true));
export const activityOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
