// Keys of providers that accounts bring: domain/keys/own-keys.ts. Gateways read them with the account's
// API keys, so those that change what is called raise the same revision.
import { raise } from './0035-first-schema/guards.ts';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const table = `
create table own_keys (
  id ID primary key, account_id ID not null references accounts (id), provider text not null,
  address_digest text not null, shown_end text not null, goes_first FLAG not null, sealed text not null,
  secret_id ID not null, created_at_ms INT not null, refused_at_ms INT
) STRICT;
create index own_keys_by_account on own_keys (account_id, created_at_ms);
`;

const raises = {
  on: 'own_keys',
  events: ['insert', 'delete', 'update of goes_first'],
  sqlite: (event: string) => `own_key_${event.slice(0, 6)}`,
  postgres: 'own_key',
};

export function ownKeys(store: Store): readonly string[] {
  return [...statementsOf(table, store), ...raise(raises, store)];
}
