// Three columns of a charge from which reports derive why its prompt was not read from the provider's
// cache, and a key's switch for cache marks. Earlier charges have none of it, and no digest of a seal covers it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const columns = `
alter table charges add column conversation text;
alter table charges add column cache_marks text;
alter table charges add column rank_routes integer;
alter table api_keys add column cache_marks FLAG not null default 1;
`;

export function cacheTruth(store: Store): Migration {
  return {
    up: async (db) => {
      for (const statement of statementsOf(columns, store)) await sql.raw(statement).execute(db);
    },
  };
}
