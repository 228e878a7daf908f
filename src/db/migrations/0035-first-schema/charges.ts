// Charges, in the order in which they are listed. PostgreSQL has a partition for each UTC day, so
// that an old day is dropped at once. The first is made here, for charges until the end of today;
// domain/ledger/seals/partitions.ts makes those of later days. No index by id is needed:
// `unique (id, kind)` of the entries allows one charge per id.

const columns: Readonly<Record<string, string>> = {
  created_at_ms: 'INT not null',
  ...counts('input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'),
  ...counts('output_tokens', 'reasoning_tokens', 'upstream_cost_micros'),
  ...counts('cost_micros', 'loss_micros', 'hold_micros'),
  attempts: 'INT not null default 1 CHECK attempts >= 1',
  duration_ms: 'INT CHECK duration_ms >= 0',
  first_byte_ms: 'INT CHECK first_byte_ms >= 0',
  web_searches: 'integer not null default 0 CHECK web_searches >= 0',
  images: 'integer not null default 0 CHECK images >= 0',
  streamed: 'FLAG not null CHECK streamed in (0, 1)',
  id: 'ID not null',
  ledger_id: 'ID not null OF_LEDGER',
  key_id: 'ID not null',
  model_id: 'ID not null',
  model_name: 'text not null',
  endpoint: 'text not null',
  provider: 'text not null',
  usage_source: `text not null CHECK usage_source in ('upstream', 'estimate')`,
  price_version: 'text not null',
  price_id: 'ID OF_PRICE',
  ending: `text not null CHECK ending in ('complete', 'cut-off')`,
};

function counts(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `INT not null CHECK ${name} >= 0`]));
}

const orders = {
  sqlite: `id ledger_id key_id model_id model_name endpoint provider input_tokens cache_read_tokens
    cache_write_tokens cache_write_1h_tokens output_tokens reasoning_tokens web_searches images
    usage_source price_version price_id upstream_cost_micros ending streamed cost_micros loss_micros
    hold_micros attempts duration_ms first_byte_ms created_at_ms`,
  /** Needs the least room: wide numbers come first. */
  postgres: Object.keys(columns).join(' '),
  /** Columns of the first partition, in the order of the table that it once was. */
  first: `id ledger_id key_id model_id model_name endpoint provider input_tokens cache_read_tokens
    cache_write_tokens cache_write_1h_tokens output_tokens reasoning_tokens usage_source
    price_version upstream_cost_micros ending streamed cost_micros loss_micros hold_micros
    created_at_ms web_searches price_id images attempts duration_ms first_byte_ms`,
} as const;

/** A partition's checks must have the names of the table's. */
function inOrder(order: keyof typeof orders): string {
  const named = (name: string) => (order === 'sqlite' ? '' : `constraint charges_${name}_check `);
  return orders[order]
    .split(/\s+/)
    .map((name) => `${name} ${columns[name]!.replace(/CHECK (.*)$/, `${named(name)}check ($1)`)}`)
    .join(', ');
}

const newestFirst = '(ledger_id, created_at_ms desc, id desc)';
const cutOff = `${newestFirst} where ending = 'cut-off'`;

export const charges = {
  sqlite: `
create table charges (${inOrder('sqlite')}, primary key (ledger_id, created_at_ms, id)) ORDERED;
create index charges_cut_off on charges ${cutOff};
`,
  // A publication of deletes needs an identity, and there is no primary key. The default partition
  // is for days whose partition could not be made in time.
  postgres: `
create table charges (${inOrder('first')});
alter table charges rename to charges_history;
alter table charges_history replica identity full;
create index charges_history_newest_first on charges_history ${newestFirst};
create index charges_history_cut_off on charges_history ${cutOff};
create table charges (${inOrder('postgres')}) partition by range (created_at_ms);
create index charges_newest_first on charges ${newestFirst};
create index charges_cut_off on charges ${cutOff};
do $$ begin execute format(
  'alter table charges attach partition charges_history for values from (minvalue) to (%s)',
  (floor(extract(epoch from clock_timestamp()) / 86400)::bigint + 1) * 86400000
); end $$;
create table charges_default partition of charges default;
alter table charges_default replica identity full;
`,
} as const;
