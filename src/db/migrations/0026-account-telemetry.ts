// Where accounts export their own traces to, and what became of them. A change of the settings makes
// gateways read the account's keys again, which carry them.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const tables = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const strict = isSqlite ? 'strict' : '';
  return [
    `create table account_telemetry (
      account_id ${id} primary key references accounts (id),
      endpoint text,
      header_names text not null,
      sealed_headers text,
      secret_id ${id},
      sampling_ppm ${integer} not null,
      include_content ${integer} not null,
      version ${integer} not null
    ) ${strict}`,
    `create table account_telemetry_results (
      account_id ${id} primary key references accounts (id),
      sent_spans ${integer} not null,
      dropped_spans ${integer} not null,
      last_success_at_ms ${integer},
      last_problem text,
      last_problem_at_ms ${integer}
    ) ${strict}`,
  ];
};

const sqliteTriggers = ['insert', 'update', 'delete'].map(
  (action) => `create trigger keys_revision_after_telemetry_${action}
    after ${action} on account_telemetry begin
      update revisions set value = value + 1 where name = 'keys';
    end`,
);
const postgresTrigger = `create trigger keys_revision_after_telemetry
  after insert or update or delete on account_telemetry
  for each row execute function raise_keys_revision()`;

export const accountTelemetry: Migration = migration([...tables(true), ...sqliteTriggers]);
export const accountTelemetryOnPostgres: Migration = migration([...tables(false), postgresTrigger]);

function migration(statements: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
