// The number of web searches that a provider ran for a request. They are billed per call, so the
// charge depends on it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const webSearches: Migration = {
  up: async (db) => {
    await sql
      .raw(
        'alter table charges add column web_searches integer not null default 0 check (web_searches >= 0)',
      )
      .execute(db);
  },
};
