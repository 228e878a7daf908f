// Keys of providers that accounts bring: domain/keys/own-keys.ts. Gateways read them with the account's
// API keys, so those that change what is called raise the same revision.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const table = `
create table own_keys (
  id ID primary key, account_id ID not null references accounts (id), provider text not null,
  address_digest text not null, shown_end text not null, goes_first FLAG not null, sealed text not null,
  secret_id ID not null, created_at_ms INT not null, refused_at_ms INT
) STRICT;
create index own_keys_by_account on own_keys (account_id, created_at_ms);
`;

const raise = "update revisions set value = value + 1 where name = 'keys'";
const triggers: Readonly<Record<Store, readonly string[]>> = {
  sqlite: ['insert', 'delete', 'update of goes_first'].map(
    (
      event,
    ) => `create trigger keys_revision_after_own_key_${event.slice(0, 6)} after ${event} on own_keys
      begin ${raise}; end`,
  ),
  postgres: [
    `create trigger keys_revision_after_own_key after insert or delete or update of goes_first
      on own_keys for each row execute function raise_keys_revision()`,
  ],
};

export function ownKeys(store: Store): Migration {
  return {
    up: async (db) => {
      for (const statement of [...statementsOf(table, store), ...triggers[store]])
        await sql.raw(statement).execute(db);
    },
  };
}
