// The prices of each charge, so that charges can be recomputed; and account prices for single
// models.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const tables = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const strict = isSqlite ? 'strict, without rowid' : '';
  return [
    `create table prices (id ${id} primary key, terms text not null) ${strict}`,
    `alter table charges add column price_id ${id} ${isSqlite ? 'references prices (id)' : ''}`,
    `create table account_model_prices (
      account_id ${id} not null references accounts (id),
      model_id ${id} not null,
      multiplier_ppm ${isSqlite ? 'integer' : 'bigint'} not null check (multiplier_ppm >= 0),
      primary key (account_id, model_id)
    ) ${strict}`,
  ];
};

const sqliteGuards = [
  ...['update', 'delete'].map(
    (action) => `create trigger prices_refuse_${action} before ${action} on prices begin
      select raise(abort, 'prices are append-only: charges were made by them');
    end`,
  ),
  ...['insert', 'update', 'delete'].map(
    (
      action,
    ) => `create trigger keys_revision_after_price_${action} after ${action} on account_model_prices begin
      update revisions set value = value + 1 where name = 'keys';
    end`,
  ),
];

const postgresGuards = [
  ...['update', 'delete'].map(
    (action) =>
      `create trigger prices_refuse_${action} before ${action} on prices for each row execute function refuse_change()`,
  ),
  `create trigger prices_refuse_truncate before truncate on prices for each statement execute function refuse_change()`,
  `create trigger keys_revision_after_price after insert or update or delete on account_model_prices
    for each row execute function raise_keys_revision()`,
];

export const prices: Migration = migration([...tables(true), ...sqliteGuards]);
export const pricesOnPostgres: Migration = migration([...tables(false), ...postgresGuards]);

function migration(statements: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
