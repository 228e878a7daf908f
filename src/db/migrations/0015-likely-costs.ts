// The likely provider cost of a running request, so that the hold of a killed process is released
// with that loss.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const likelyCosts: Migration = migration('integer');
export const likelyCostsOnPostgres: Migration = migration('bigint');

function migration(integer: string): Migration {
  return {
    up: async (db) => {
      for (const column of ['cost_at_once_micros', 'cost_per_second_micros'])
        await sql
          .raw(
            `alter table holds add column ${column} ${integer} not null default 0 check (${column} >= 0)`,
          )
          .execute(db);
    },
  };
}
