// Passkeys of users, and the challenges that were answered.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

function tables(isSqlite: boolean): readonly string[] {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict' : '';
  return [
    `create table user_passkeys (
      id ${id} primary key,
      user_id ${id} not null references users (id) on delete cascade,
      credential_id ${id} not null unique,
      public_key text not null,
      counter ${integer} not null check (counter >= 0),
      transports text not null,
      rp_id ${id} not null,
      name text not null,
      created_at_ms ${integer} not null,
      last_used_at_ms ${integer}
    ) ${strict}`,
    `create index user_passkeys_by_user on user_passkeys (user_id)`,
    `create table used_passkey_challenges (
      challenge ${id} primary key,
      expires_at_ms ${integer} not null
    ) ${strict}`,
  ];
}

export const passkeys: Migration = migration(tables(true));
export const passkeysOnPostgres: Migration = migration(tables(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
