// Programs on other machines that ask for a key: domain/users/device-logins.ts.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { statementsOf, type Store } from './0035-first-schema/words.ts';

const table = `
-- Who has confirmed it, for which account; all null until then.
create table device_logins (
  device_digest ID primary key, user_digest ID not null unique,
  program text not null, address text not null, expires_at_ms INT not null,
  is_denied FLAG not null default 0,
  account_id ID references accounts (id), user_id ID references users (id) on delete cascade,
  key_name text, confirmed_from text
) STRICT;
create index device_logins_by_expiry on device_logins (expires_at_ms);
create index device_logins_by_user on device_logins (user_id);
`;

function create(store: Store): Migration {
  return {
    up: async (db) => {
      for (const statement of statementsOf(table, store)) await sql.raw(statement).execute(db);
    },
  };
}

export const deviceLogins: Migration = create('sqlite');
export const deviceLoginsOnPostgres: Migration = create('postgres');
