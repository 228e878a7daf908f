// Holds that are extended while an answer grows, and a last entry time for each ledger, so that
// entry times never go back.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [
  `alter table entries drop constraint entries_kind`,
  `alter table entries add constraint entries_kind
    check (kind in ('reserve', 'extend', 'settle', 'release', 'expire', 'credit', 'debit'))`,
  `alter table ledgers add column last_entry_at_ms bigint not null default 0`,
  `update ledgers set last_entry_at_ms =
    coalesce((select max(created_at_ms) from entries where entries.ledger_id = ledgers.id), 0)`,
];

export const extensions: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
