// The role of viewers, the owners of keys, and the budgets of members. SQLite cannot change a check,
// so the tables of roles are written again.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const roles = `('viewer', 'member', 'admin', 'owner')`;

const onSqlite = [
  `create table members_with_viewers (
    account_id text not null references accounts (id),
    user_id text not null references users (id) on delete cascade,
    role text not null check (role in ${roles}),
    created_at_ms integer not null,
    primary key (account_id, user_id)
  ) strict`,
  `insert into members_with_viewers (account_id, user_id, role, created_at_ms)
    select account_id, user_id, role, created_at_ms from account_members`,
  `drop table account_members`,
  `alter table members_with_viewers rename to account_members`,
  `create index account_members_by_user on account_members (user_id)`,
  `create table invitations_with_viewers (
    id text primary key,
    account_id text not null references accounts (id),
    email text not null check (email = lower(email)),
    role text not null check (role in ${roles}),
    token_digest text not null unique,
    invited_by text references users (id),
    created_at_ms integer not null,
    expires_at_ms integer not null,
    accepted_at_ms integer,
    mailed_token_digest text
  ) strict`,
  `insert into invitations_with_viewers
    (id, account_id, email, role, token_digest, invited_by, created_at_ms, expires_at_ms, accepted_at_ms, mailed_token_digest)
    select id, account_id, email, role, token_digest, invited_by, created_at_ms, expires_at_ms, accepted_at_ms, mailed_token_digest
    from invitations`,
  `drop table invitations`,
  `alter table invitations_with_viewers rename to invitations`,
  `create index invitations_by_account on invitations (account_id, email)`,
  `create index invitations_by_email on invitations (email)`,
  `create unique index invitations_by_mailed_token on invitations (mailed_token_digest)`,
];

/** Rows from before satisfy the new check, so it need not be validated under a lock. */
const onPostgres = ['account_members', 'invitations'].map(
  (table) => `alter table ${table} drop constraint ${table}_role_check,
    add constraint ${table}_role_check check (role in ${roles}) not valid`,
);

const budgets = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict' : '';
  return [
    `create table key_owners (
      key_id ${id} primary key references api_keys (id),
      ledger_id ${id} not null references ledgers (id),
      user_id ${id} not null
    ) ${strict}`,
    `create index key_owners_by_user on key_owners (ledger_id, user_id)`,
    `create table member_budgets (
      account_id ${id} not null references accounts (id),
      user_id ${id} not null,
      daily_micros ${integer} check (daily_micros >= 0),
      monthly_micros ${integer} check (monthly_micros >= 0),
      primary key (account_id, user_id)
    ) ${strict}`,
    ...['key_owners', 'member_budgets'].flatMap((table) =>
      isSqlite
        ? ['insert', 'update', 'delete'].map(
            (
              action,
            ) => `create trigger keys_revision_after_${action}_on_${table} after ${action} on ${table} begin
              update revisions set value = value + 1 where name = 'keys';
            end`,
          )
        : [
            `create trigger keys_revision_after_change after insert or update or delete on ${table}
              for each row execute function raise_keys_revision()`,
          ],
    ),
  ];
};

export const members: Migration = migration([...onSqlite, ...budgets(true)]);
export const membersOnPostgres: Migration = migration([...onPostgres, ...budgets(false)]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
