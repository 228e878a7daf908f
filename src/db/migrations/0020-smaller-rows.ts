// Charges are stored in the order in which they are listed, and found by the time of their settle
// entry. The index by id is gone; `unique (id, kind)` of the entries still allows one charge per id.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { lockLedgerTables } from './lock-ledger-tables.ts';

const columns = `id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens, cache_read_tokens,
  cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, web_searches, images, usage_source,
  price_version, price_id, upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, attempts,
  duration_ms, first_byte_ms, created_at_ms`;

const counts = (names: readonly string[]) =>
  names.map((name) => `${name} integer not null check (${name} >= 0)`).join(', ');

const onSqlite = [
  `create table new_charges (
    id text not null,
    ledger_id text not null references ledgers (id),
    key_id text not null,
    model_id text not null,
    model_name text not null,
    endpoint text not null,
    provider text not null,
    ${counts(['input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'])},
    ${counts(['output_tokens', 'reasoning_tokens'])},
    web_searches integer not null default 0 check (web_searches >= 0),
    images integer not null default 0 check (images >= 0),
    usage_source text not null check (usage_source in ('upstream', 'estimate')),
    price_version text not null,
    price_id text references prices (id),
    upstream_cost_micros integer not null check (upstream_cost_micros >= 0),
    ending text not null check (ending in ('complete', 'cut-off')),
    streamed integer not null check (streamed in (0, 1)),
    ${counts(['cost_micros', 'loss_micros', 'hold_micros'])},
    attempts integer not null default 1 check (attempts >= 1),
    duration_ms integer check (duration_ms >= 0),
    first_byte_ms integer check (first_byte_ms >= 0),
    created_at_ms integer not null,
    primary key (ledger_id, created_at_ms, id)
  ) strict, without rowid`,
  `insert into new_charges (${columns}) select ${columns} from charges order by ledger_id, created_at_ms, id`,
  `drop table charges`,
  `alter table new_charges rename to charges`,
  ...['update', 'delete'].map(
    (action) => `create trigger charges_refuse_${action} before ${action} on charges begin
      select raise(abort, 'charges are append-only: correct a mistake with a credit or a debit');
    end`,
  ),
  `create index charges_cut_off on charges (ledger_id, created_at_ms desc, id desc) where ending = 'cut-off'`,
];

const onPostgres = [
  `alter table charges drop constraint charges_pkey`,
  // A publication of deletes needs an identity; the primary key was it.
  `alter table charges replica identity full`,
];

export const smallerRows: Migration = {
  up: async (db) => {
    for (const statement of onSqlite) await sql.raw(statement).execute(db);
  },
};

export const smallerRowsOnPostgres: Migration = {
  up: async (db) => {
    await lockLedgerTables(db);
    for (const statement of onPostgres) await sql.raw(statement).execute(db);
  },
};
