// Counts for analytics that the ledger does not book: requests by hour and provider, and requests
// by tag that were not charged. Buffered in memory like other activity.
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
  ];
};

export const activityHours: Migration = migration(statements(true));
export const activityHoursOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
