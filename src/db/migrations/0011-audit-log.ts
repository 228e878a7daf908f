// The audit log of changes: append-only, so that neither a signed-in user nor a bug can alter it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const tables = (integer: string, text: string) => [
  `create table audit_log (
    id ${text} primary key,
    actor_kind text not null check (actor_kind in ('user', 'command', 'service')),
    actor_id text not null,
    actor_name text not null,
    address text,
    account_id text,
    action ${text} not null,
    subject text not null,
    before text,
    after text,
    created_at_ms ${integer} not null
  )`,
  `create index audit_log_by_time on audit_log (created_at_ms desc, id desc)`,
  `create index audit_log_by_account on audit_log (account_id, created_at_ms desc, id desc)`,
  `create index audit_log_by_subject on audit_log (subject, created_at_ms desc, id desc)`,
];

const guards = ['update', 'delete'].map(
  (action) => `create trigger audit_log_refuse_${action} before ${action} on audit_log begin
      select raise(abort, 'audit_log is append-only');
    end`,
);

const postgresGuards = [
  `create function refuse_audit_change() returns trigger language plpgsql as $$ begin
    raise exception 'audit_log is append-only';
  end $$`,
  ...['update', 'delete'].map(
    (action) => `create trigger audit_log_refuse_${action} before ${action} on audit_log
      for each row execute function refuse_audit_change()`,
  ),
  `create trigger audit_log_refuse_truncate before truncate on audit_log for each statement execute function refuse_audit_change()`,
];

export const auditLog: Migration = migration([...tables('integer', 'text'), ...guards]);
export const auditLogOnPostgres: Migration = migration([
  ...tables('bigint', 'text collate "C"'),
  ...postgresGuards,
]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
