// The number of images delivered for a charge. Each has a price, so the charge depends on it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const images: Migration = {
  up: async (db) => {
    await sql
      .raw('alter table charges add column images integer not null default 0 check (images >= 0)')
      .execute(db);
  },
};
