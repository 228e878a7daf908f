// Sealed days: where in the journal a day ends, what it contained, and digests of it, each chained
// to the one before. And one row that says who seals now, and whether the clock is trusted.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { lockLedgerTables } from './lock-ledger-tables.ts';

const tables = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict' : '';
  return [
    `create table sealed_days (
      day ${id} primary key,
      until_ms ${integer} not null,
      after_seq ${integer} not null,
      last_seq ${integer} not null,
      ahead text not null,
      entries ${integer} not null,
      charges ${integer} not null,
      entries_digest text not null,
      charges_digest text not null,
      sums_digest text not null,
      state_digest text not null,
      previous_digest text not null,
      digest text not null,
      state text,
      sealed_at_ms ${integer} not null,
      removing_since_ms ${integer},
      removed_at_ms ${integer}
    ) ${strict}`,
    `create table sealing (
      id ${integer} primary key check (id = 1),
      trusted_ms ${integer},
      doubted_since_ms ${integer},
      doubted_at_ms ${integer},
      owner text,
      claimed_until_ms ${integer} not null,
      closed_until_ms ${integer} not null default 0
    ) ${strict}`,
    `insert into sealing (id, claimed_until_ms) values (1, 0)`,
  ];
};

/** The rest of a seal may change: its state is dropped, and its charges are removed. */
const fixed = `day, until_ms, after_seq, last_seq, ahead, entries, charges, entries_digest, charges_digest, sums_digest,
  state_digest, previous_digest, digest, sealed_at_ms`;

/** The marks of a removal are set once, one after the other and in the order of days. */
const wrongMark = `(old.removing_since_ms is not null and new.removing_since_ms is distinct from old.removing_since_ms)
  or (old.removed_at_ms is not null and new.removed_at_ms is distinct from old.removed_at_ms)
  or (old.removing_since_ms is null and new.removed_at_ms is not null)
  or (new.removing_since_ms is not null and exists (
    select 1 from sealed_days as earlier where earlier.day < new.day and earlier.removed_at_ms is null))`;

/** Charges may be deleted up to here. */
const removable = `coalesce((select until_ms from sealed_days where removing_since_ms is not null order by day desc limit 1), 0)`;

const sqliteGuards = [
  ...[`update of ${fixed}`, 'delete'].map(
    (event, index) => `create trigger sealed_days_refuse_${index === 0 ? 'update' : 'delete'}
    before ${event} on sealed_days begin
      select raise(abort, 'sealed days are append-only');
    end`,
  ),
  `create trigger sealed_days_refuse_mark before update of removing_since_ms, removed_at_ms on sealed_days when ${wrongMark} begin
    select raise(abort, 'sealed days are append-only');
  end`,
  `drop trigger charges_refuse_delete`,
  `create trigger charges_refuse_delete before delete on charges when old.created_at_ms >= ${removable} begin
    select raise(abort, 'charges are append-only: correct a mistake with a credit or a debit');
  end`,
];

const postgresGuards = [
  ...[`update of ${fixed}`, 'delete'].map(
    (event, index) => `create trigger sealed_days_refuse_${index === 0 ? 'update' : 'delete'}
    before ${event} on sealed_days for each row execute function refuse_change()`,
  ),
  `create trigger sealed_days_refuse_truncate before truncate on sealed_days for each statement execute function refuse_change()`,
  `create function refuse_wrong_mark() returns trigger language plpgsql as $$ begin
    if ${wrongMark} then
      raise exception 'sealed days are append-only';
    end if;
    return new;
  end $$`,
  `create trigger sealed_days_refuse_mark before update of removing_since_ms, removed_at_ms on sealed_days
    for each row execute function refuse_wrong_mark()`,
  `create function refuse_unsealed_delete() returns trigger language plpgsql as $$ begin
    if old.created_at_ms >= ${removable} then
      raise exception '% are append-only: correct a mistake with a credit or a debit', tg_table_name;
    end if;
    return old;
  end $$`,
  `drop trigger charges_refuse_delete on charges`,
  `create trigger charges_refuse_delete before delete on charges for each row execute function refuse_unsealed_delete()`,
];

export const sealedDays: Migration = {
  up: async (db) => {
    for (const statement of [...tables(true), ...sqliteGuards])
      await sql.raw(statement).execute(db);
  },
};

export const sealedDaysOnPostgres: Migration = {
  up: async (db) => {
    await lockLedgerTables(db);
    for (const statement of [...tables(false), ...postgresGuards])
      await sql.raw(statement).execute(db);
  },
};
