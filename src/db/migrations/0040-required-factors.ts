// Accounts whose owner requires a second factor of every member.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const column = `
alter table accounts add column requires_second_factor FLAG not null default 0;
`;

export function requiredFactors(store: Store): Migration {
  return {
    up: async (db) => {
      for (const statement of statementsOf(column, store)) await sql.raw(statement).execute(db);
    },
  };
}
