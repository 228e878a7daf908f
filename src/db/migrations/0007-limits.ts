// Limits of keys and accounts; and, on PostgreSQL, the state that gateways share. Those tables are
// unlogged because they describe only the present, are rewritten constantly, and may be empty after
// a crash.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const columns = (integer: string) => {
  const count = (table: string, column: string) =>
    `alter table ${table} add column ${column} ${integer} check (${column} >= 0)`;
  return [
    count('api_keys', 'tokens_per_minute'),
    count('api_keys', 'concurrent_requests'),
    `alter table api_keys add column allowed_addresses text`,
    `alter table api_keys add column expires_at_ms ${integer}`,
    count('accounts', 'requests_per_minute'),
    count('accounts', 'tokens_per_minute'),
    count('accounts', 'concurrent_requests'),
    `alter table accounts add column allowed_addresses text`,
  ];
};

const shared = [
  `create unlogged table rate_buckets (
    id text collate "C" primary key,
    level double precision not null,
    per_minute double precision not null,
    updated_at_ms double precision not null
  ) with (fillfactor = 50)`,
  `create unlogged table concurrency_slots (
    id text collate "C" primary key,
    holders jsonb not null
  ) with (fillfactor = 50)`,
];

export const limits: Migration = migration(columns('integer'));
export const limitsOnPostgres: Migration = migration([...columns('bigint'), ...shared]);

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
