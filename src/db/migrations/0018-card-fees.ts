// The card fee added to a top-up, and the fee part of a payment: only the rest is credited.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const cardFees: Migration = migration('integer');
export const cardFeesOnPostgres: Migration = migration('bigint');

function migration(money: string): Migration {
  return {
    up: async (db) => {
      for (const table of ['top_ups', 'payments']) {
        await sql
          .raw(
            `alter table ${table} add column fee_micros ${money} not null default 0 check (fee_micros >= 0)`,
          )
          .execute(db);
      }
    },
  };
}
