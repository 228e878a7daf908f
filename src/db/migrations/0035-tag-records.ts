// Latencies by tag; SQLite cannot change a check, so the table is written again. And the digest of the
// tags of a sealed day, as fixed as the others; seals from before have none.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const groups = `('none', 'model', 'key', 'provider', 'tag')`;

const onSqlite = [
  `create table latency_sums_with_tags (
    account_id text not null,
    mode text not null check (mode = 'live' or mode = 'test'),
    grouped_by text not null check (grouped_by in ${groups}),
    period text not null,
    group_id text not null,
    kind text not null check (kind = 'first' or kind = 'whole'),
    latency_bucket integer not null,
    requests integer not null,
    primary key (account_id, mode, grouped_by, period, group_id, kind, latency_bucket)
  ) strict, without rowid`,
  `insert into latency_sums_with_tags select account_id, mode, grouped_by, period, group_id, kind, latency_bucket, requests
    from latency_sums`,
  `drop table latency_sums`,
  `alter table latency_sums_with_tags rename to latency_sums`,
  `create index latency_sums_by_period on latency_sums (period)`,
];

/** Rows from before satisfy the new check, so it need not be validated under a lock. */
const onPostgres = [
  `alter table latency_sums drop constraint latency_sums_grouped_by_check,
    add constraint latency_sums_grouped_by_check check (grouped_by in ${groups}) not valid`,
];

/** The columns of 0021, and `tags_digest`. */
const fixed = `day, until_ms, after_seq, last_seq, ahead, entries, charges, entries_digest, charges_digest, sums_digest,
  state_digest, tags_digest, previous_digest, digest, sealed_at_ms`;

const sealsOnSqlite = [
  `alter table sealed_days add column tags_digest text`,
  `drop trigger sealed_days_refuse_update`,
  `create trigger sealed_days_refuse_update before update of ${fixed} on sealed_days begin
    select raise(abort, 'sealed days are append-only');
  end`,
];

const sealsOnPostgres = [
  `alter table sealed_days add column tags_digest text`,
  `drop trigger sealed_days_refuse_update on sealed_days`,
  `create trigger sealed_days_refuse_update before update of ${fixed} on sealed_days
    for each row execute function refuse_change()`,
];

export const tagRecords: Migration = migration([...onSqlite, ...sealsOnSqlite]);
export const tagRecordsOnPostgres: Migration = migration([...onPostgres, ...sealsOnPostgres]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
