// Counts for analytics that the ledger does not book: requests by hour and provider, uncharged
// requests by tag, and latencies by day and month. They are buffered in memory like other activity.
// The latencies so far are copied from a table that is no longer used; a gateway of the version
// before may still write it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const end = isSqlite ? 'strict, without rowid' : '';
  return [
    `create table activity_hours (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      hour ${id} not null,
      provider ${id} not null,
      requests ${integer} not null,
      errors ${integer} not null,
      cost_micros ${integer} not null,
      input_tokens ${integer} not null,
      output_tokens ${integer} not null,
      primary key (account_id, mode, hour, provider)
    ) ${end}`,
    `create index activity_hours_by_hour on activity_hours (hour)`,
    `create table activity_tag_days (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      day ${id} not null,
      tag ${id} not null,
      outcome ${id} not null,
      requests ${integer} not null,
      saved_micros ${integer} not null,
      primary key (account_id, mode, day, tag, outcome)
    ) ${end}`,
    `create index activity_tag_days_by_day on activity_tag_days (day)`,
    `create table latency_sums (
      account_id ${id} not null,
      mode ${id} not null check (mode = 'live' or mode = 'test'),
      grouped_by ${id} not null check (grouped_by in ('none', 'model', 'key', 'provider')),
      period ${id} not null,
      group_id ${id} not null,
      kind ${id} not null check (kind = 'first' or kind = 'whole'),
      latency_bucket ${integer} not null,
      requests ${integer} not null,
      primary key (account_id, mode, grouped_by, period, group_id, kind, latency_bucket)
    ) ${end}`,
    `create index latency_sums_by_period on latency_sums (period)`,
    ...Object.entries(groups).flatMap(([name, column]) =>
      ['day', 'substr(day, 1, 7)'].map(
        (period) => `insert into latency_sums
          select account_id, mode, '${name}', ${period}, ${column}, kind, latency_bucket, sum(requests)
          from latency_days
          group by account_id, mode, ${[period, ...(name === 'none' ? [] : [column])].join(', ')}, kind, latency_bucket`,
      ),
    ),
  ];
};

const groups = { none: `''`, model: 'model_id', key: 'key_id', provider: 'provider' };

export const activityHours: Migration = migration(statements(true));
export const activityHoursOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
