// Accounts, keys and the ledger. Money tables are STRICT and carry their rules as CHECKs and
// triggers, so that the database itself refuses a bug or a mistake at the SQL prompt.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const accountsAndKeys = [
  `create table accounts (
    id text primary key,
    name text not null,
    created_at_ms integer not null,
    frozen integer not null default 0 check (frozen in (0, 1)),
    price_multiplier_ppm integer not null default 1000000 check (price_multiplier_ppm >= 0)
  ) strict, without rowid`,

  `create table api_keys (
    id text primary key,
    account_id text not null references accounts (id),
    mode text not null check (mode in ('live', 'test')),
    name text not null,
    digest text not null unique,
    hint text not null,
    daily_cap_micros integer check (daily_cap_micros >= 0),
    monthly_cap_micros integer check (monthly_cap_micros >= 0),
    models text,
    requests_per_minute integer check (requests_per_minute >= 0),
    created_at_ms integer not null,
    revoked_at_ms integer
  ) strict, without rowid`,

  `create index api_keys_by_account on api_keys (account_id, created_at_ms)`,
];

/**
 * One comparison for each kind: for more than two values SQLite builds a table for every IN, which
 * doubles the cost of an insert.
 */
const entryKinds = ['reserve', 'settle', 'release', 'expire', 'credit', 'debit'];

const ledger = [
  `create table ledgers (
    id text primary key,
    account_id text not null references accounts (id),
    mode text not null check (mode in ('live', 'test')),
    posted_micros integer not null default 0,
    held_micros integer not null default 0 check (held_micros >= 0),
    input_tokens integer not null default 0 check (input_tokens >= 0),
    output_tokens integer not null default 0 check (output_tokens >= 0),
    check (id = account_id || ':' || mode)
  ) strict, without rowid`,

  // Every reserve writes here, so this one reference keeps an unknown key from spending.
  `create table key_windows (
    key_id text not null references api_keys (id),
    kind text not null check (kind in ('day', 'month')),
    starts_on text not null,
    settled_micros integer not null check (settled_micros >= 0),
    held_micros integer not null check (held_micros >= 0),
    primary key (key_id, kind, starts_on)
  ) strict, without rowid`,

  `create table holds (
    id text primary key,
    ledger_id text not null references ledgers (id),
    key_id text not null,
    amount_micros integer not null check (amount_micros >= 0),
    day text not null,
    month text not null,
    daily_cap_micros integer,
    monthly_cap_micros integer,
    owner text not null,
    created_at_ms integer not null
  ) strict, without rowid`,

  `create table hold_owners (
    owner text primary key,
    host text not null,
    pid integer not null,
    process_started_at_ms integer not null,
    expires_at_ms integer not null
  ) strict, without rowid`,

  `create table entries (
    seq integer primary key,
    id text not null,
    kind text not null check (${entryKinds.map((kind) => `kind = '${kind}'`).join(' or ')}),
    ledger_id text not null references ledgers (id),
    key_id text,
    posted_delta_micros integer not null,
    held_delta_micros integer not null,
    loss_micros integer not null check (loss_micros >= 0),
    available_micros integer not null,
    day text,
    month text,
    daily_cap_micros integer,
    monthly_cap_micros integer,
    note text,
    created_at_ms integer not null,
    unique (id, kind)
  ) strict`,

  `create table charges (
    id text primary key,
    ledger_id text not null references ledgers (id),
    key_id text not null,
    model_id text not null,
    model_name text not null,
    endpoint text not null,
    provider text not null,
    input_tokens integer not null check (input_tokens >= 0),
    cache_read_tokens integer not null check (cache_read_tokens >= 0),
    cache_write_tokens integer not null check (cache_write_tokens >= 0),
    cache_write_1h_tokens integer not null check (cache_write_1h_tokens >= 0),
    output_tokens integer not null check (output_tokens >= 0),
    reasoning_tokens integer not null check (reasoning_tokens >= 0),
    usage_source text not null check (usage_source in ('upstream', 'estimate')),
    price_version text not null,
    upstream_cost_micros integer not null check (upstream_cost_micros >= 0),
    ending text not null check (ending in ('complete', 'cut-off')),
    streamed integer not null check (streamed in (0, 1)),
    cost_micros integer not null check (cost_micros >= 0),
    loss_micros integer not null check (loss_micros >= 0),
    hold_micros integer not null check (hold_micros >= 0),
    created_at_ms integer not null
  ) strict, without rowid`,

  `create index charges_newest_first on charges (ledger_id, created_at_ms desc, id desc)`,
];

const revisions = [
  `create table revisions (name text primary key, value integer not null) strict, without rowid`,
  `insert into revisions (name, value) values ('keys', 0)`,
  ...['insert on api_keys', 'update on api_keys', 'delete on api_keys', 'update on accounts'].map(
    (
      event,
    ) => `create trigger keys_revision_after_${event.replaceAll(' ', '_')} after ${event} begin
      update revisions set value = value + 1 where name = 'keys';
    end`,
  ),
];

const appendOnly = ['entries', 'charges'].flatMap((table) =>
  ['update', 'delete'].map(
    (action) => `create trigger ${table}_refuse_${action} before ${action} on ${table} begin
      select raise(abort, '${table} are append-only: correct a mistake with a credit or a debit');
    end`,
  ),
);

export const foundation: Migration = {
  up: async (db) => {
    for (const statement of [...accountsAndKeys, ...ledger, ...revisions, ...appendOnly]) {
      await sql.raw(statement).execute(db);
    }
  },
};
