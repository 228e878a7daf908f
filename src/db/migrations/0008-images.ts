// Images that were delivered for a charge: each has a price, so a charge without their number could not be recomputed.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const images: Migration = {
  up: async (db) => {
    await sql.raw('alter table charges add column images integer not null default 0 check (images >= 0)').execute(db);
  },
};
