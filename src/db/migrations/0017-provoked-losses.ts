// Which losses the account could provoke, and their sums by UTC day, which count against its loss
// budget. Older losses are unknown and do not count.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

type Types = {
  readonly id: string;
  readonly money: string;
  readonly flag: string;
  readonly end: string;
};

const onSqlite: Types = {
  id: 'text',
  money: 'integer',
  flag: 'integer',
  end: 'strict, without rowid',
};
const onPostgres: Types = { id: 'text collate "C"', money: 'bigint', flag: 'smallint', end: '' };

export const provokedLosses: Migration = migration(onSqlite);
export const provokedLossesOnPostgres: Migration = migration(onPostgres);

function migration({ id, money, flag, end }: Types): Migration {
  const statements = [
    `alter table entries add column provoked ${flag} not null default 0 check (provoked = 0 or provoked = 1)`,
    `create table loss_days (
      ledger_id ${id} not null,
      day ${id} not null,
      provoked_micros ${money} not null check (provoked_micros >= 0),
      forgiven_micros ${money} not null default 0 check (forgiven_micros between 0 and provoked_micros),
      primary key (ledger_id, day)
    ) ${end}`,
  ];
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
