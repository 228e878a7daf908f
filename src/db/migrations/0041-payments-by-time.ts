// The operator's list of all payments is read newest first.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const paymentsByTime: Migration = {
  up: async (db) => {
    await sql`create index payments_by_time on payments (paid_at_ms desc, id desc)
      where paid_at_ms is not null`.execute(db);
  },
};
