// Users, their sessions, and account members. The first five tables belong to the sign-in library,
// under our names. It writes times as timestamps (on SQLite as ISO texts, which a STRICT table
// could not call a date) and flags as booleans.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

type Types = {
  readonly integer: string;
  readonly id: string;
  readonly time: string;
  readonly flag: string;
  readonly no: string;
};

const onSqlite: Types = { integer: 'integer', id: 'text', time: 'date', flag: 'integer', no: '0' };
const onPostgres: Types = {
  integer: 'bigint',
  id: 'text collate "C"',
  time: 'timestamptz',
  flag: 'boolean',
  no: 'false',
};

const library = ({ integer, id, time, flag, no }: Types) => [
  `create table users (
    id ${id} primary key,
    name text not null,
    email ${id} not null unique check (email = lower(email)),
    email_verified ${flag} not null default ${no},
    image text,
    two_factor_enabled ${flag} default ${no},
    created_at ${time} not null,
    updated_at ${time} not null,
    is_operator ${integer} not null default 0 check (is_operator in (0, 1)),
    own_account_id ${id} references accounts (id),
    promised_credit_micros ${integer} not null default 0 check (promised_credit_micros >= 0)
  )`,

  `create table user_sessions (
    id ${id} primary key,
    user_id ${id} not null references users (id) on delete cascade,
    token ${id} not null unique,
    ip_address text,
    user_agent text,
    created_at ${time} not null,
    updated_at ${time} not null,
    expires_at ${time} not null
  )`,
  `create index user_sessions_user_id_idx on user_sessions (user_id)`,

  `create table user_credentials (
    id ${id} primary key,
    user_id ${id} not null references users (id) on delete cascade,
    provider_id ${id} not null,
    account_id ${id} not null,
    password text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at ${time},
    refresh_token_expires_at ${time},
    scope text,
    created_at ${time} not null,
    updated_at ${time} not null,
    unique (provider_id, account_id)
  )`,
  `create index user_credentials_user_id_idx on user_credentials (user_id)`,

  `create table user_verifications (
    id ${id} primary key,
    identifier ${id} not null,
    value text not null,
    expires_at ${time} not null,
    created_at ${time} not null,
    updated_at ${time} not null
  )`,
  `create index user_verifications_identifier_idx on user_verifications (identifier)`,

  `create table user_two_factors (
    id ${id} primary key,
    user_id ${id} not null unique references users (id) on delete cascade,
    secret text not null,
    backup_codes text not null,
    verified ${flag},
    failed_verification_count integer default 0,
    locked_until ${time}
  )`,
];

const ours = ({ integer, id }: Types, strict: string) => [
  `create table used_codes (
    user_id ${id} not null references users (id) on delete cascade,
    code ${id} not null,
    used_at_ms ${integer} not null,
    primary key (user_id, code)
  ) ${strict}`,

  `create table account_members (
    account_id ${id} not null references accounts (id),
    user_id ${id} not null references users (id) on delete cascade,
    role text not null check (role = 'owner' or role = 'admin' or role = 'member'),
    created_at_ms ${integer} not null,
    primary key (account_id, user_id)
  ) ${strict}`,
  `create index account_members_by_user on account_members (user_id)`,

  `create table invitations (
    id ${id} primary key,
    account_id ${id} not null references accounts (id),
    email ${id} not null check (email = lower(email)),
    role text not null check (role = 'owner' or role = 'admin' or role = 'member'),
    token_digest ${id} not null unique,
    mailed ${integer} not null check (mailed = 0 or mailed = 1),
    invited_by ${id} references users (id),
    created_at_ms ${integer} not null,
    expires_at_ms ${integer} not null,
    accepted_at_ms ${integer}
  ) ${strict}`,
  `create index invitations_by_account on invitations (account_id, email)`,
  `create index invitations_by_email on invitations (email)`,

  `create table sign_in_links (
    token_digest ${id} primary key,
    kind text not null check (kind = 'first-run' or kind = 'password-reset' or kind = 'verify-email'),
    user_id ${id} references users (id) on delete cascade,
    email ${id},
    expires_at_ms ${integer} not null,
    used_at_ms ${integer},
    check ((kind = 'first-run') = (user_id is null))
  ) ${strict}`,
  `create index sign_in_links_by_user on sign_in_links (user_id)`,

  `create table attempts (
    subject ${id} primary key,
    count ${integer} not null,
    started_at_ms ${integer} not null,
    blocked_until_ms ${integer} not null
  ) ${strict}`,
];

export const signIn: Migration = migration([...library(onSqlite), ...ours(onSqlite, 'strict')]);
export const signInOnPostgres: Migration = migration([
  ...library(onPostgres),
  ...ours(onPostgres, ''),
]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
