// Keys of the admin API, its answers under Idempotency-Keys, and admin keys as actors in the audit
// log.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const kinds = `('user', 'command', 'service', 'admin-key')`;

const tables = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict' : '';
  return [
    `create table admin_keys (
      id ${id} primary key,
      name text not null,
      scopes text not null,
      digest ${id} not null unique,
      hint text not null,
      allowed_addresses text,
      expires_at_ms ${integer},
      created_at_ms ${integer} not null,
      revoked_at_ms ${integer}
    ) ${strict}`,
    `create table admin_answers (
      admin_key_id ${id} not null references admin_keys (id),
      key_digest ${id} not null,
      fingerprint ${id} not null,
      body ${isSqlite ? 'blob' : 'bytea'},
      expires_at_ms ${integer} not null,
      primary key (admin_key_id, key_digest)
    ) ${strict}`,
    `create index admin_answers_by_expiry on admin_answers (expires_at_ms)`,
  ];
};

/** SQLite cannot change a check, so the table is written again, with its guards. */
const rewrittenAuditLog = [
  `create table audit_log_with_admin_keys (
    id text primary key,
    actor_kind text not null check (actor_kind in ${kinds}),
    actor_id text not null,
    actor_name text not null,
    address text,
    account_id text,
    action text not null,
    subject text not null,
    before text,
    after text,
    created_at_ms integer not null
  )`,
  `insert into audit_log_with_admin_keys
    (id, actor_kind, actor_id, actor_name, address, account_id, action, subject, before, after, created_at_ms)
    select id, actor_kind, actor_id, actor_name, address, account_id, action, subject, before, after, created_at_ms
    from audit_log order by rowid`,
  `drop table audit_log`,
  `alter table audit_log_with_admin_keys rename to audit_log`,
  `create index audit_log_by_time on audit_log (created_at_ms desc, id desc)`,
  `create index audit_log_by_account on audit_log (account_id, created_at_ms desc, id desc)`,
  `create index audit_log_by_subject on audit_log (subject, created_at_ms desc, id desc)`,
  ...['update', 'delete'].map(
    (action) => `create trigger audit_log_refuse_${action} before ${action} on audit_log begin
      select raise(abort, 'audit_log is append-only');
    end`,
  ),
];

const changedCheck = [
  `alter table audit_log drop constraint audit_log_actor_kind_check`,
  `alter table audit_log add constraint audit_log_actor_kind_check check (actor_kind in ${kinds})`,
];

export const adminKeys: Migration = migration([...tables(true), ...rewrittenAuditLog]);
export const adminKeysOnPostgres: Migration = migration([...tables(false), ...changedCheck]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
