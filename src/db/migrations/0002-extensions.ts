// Holds that are extended while an answer grows, and a last entry time for each ledger, so that
// entry times never go back.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * SQLite cannot change a CHECK, so the journal is copied into a new table with the new CHECK and
 * the same triggers.
 */
const journal = [
  `create table entries_new (
    seq integer primary key,
    id text not null,
    kind text not null check (
      kind = 'reserve' or kind = 'extend' or kind = 'settle' or kind = 'release' or kind = 'expire' or kind = 'credit' or kind = 'debit'
    ),
    ledger_id text not null references ledgers (id),
    key_id text,
    posted_delta_micros integer not null,
    held_delta_micros integer not null,
    loss_micros integer not null check (loss_micros >= 0),
    available_micros integer not null,
    day text,
    month text,
    daily_cap_micros integer,
    monthly_cap_micros integer,
    note text,
    created_at_ms integer not null,
    unique (id, kind)
  ) strict`,
  `insert into entries_new select seq, id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros,
    available_micros, day, month, daily_cap_micros, monthly_cap_micros, note, created_at_ms from entries order by seq`,
  `drop table entries`,
  `alter table entries_new rename to entries`,
  ...['update', 'delete'].map(
    (action) => `create trigger entries_refuse_${action} before ${action} on entries begin
      select raise(abort, 'entries are append-only: correct a mistake with a credit or a debit');
    end`,
  ),
];

const ledgerTime = [
  `alter table ledgers add column last_entry_at_ms integer not null default 0`,
  `update ledgers set last_entry_at_ms =
    coalesce((select max(created_at_ms) from entries where entries.ledger_id = ledgers.id), 0)`,
];

export const extensions: Migration = {
  up: async (db) => {
    for (const statement of [...journal, ...ledgerTime]) await sql.raw(statement).execute(db);
  },
};
