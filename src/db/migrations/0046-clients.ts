// The program that sent a request, in its account's history: domain/activity/. Earlier requests have none.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const clients: Migration = {
  up: async (db) => {
    await sql`alter table request_log add column client text`.execute(db);
  },
};
