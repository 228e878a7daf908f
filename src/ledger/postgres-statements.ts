// The ledger's hot statements on PostgreSQL: one that locks, one that loads, one that saves, however many commands a batch has. Rows go
// in and out as JSON, so that each is one parameter or one value.
import type { ClientBase } from 'pg';
import type { Selectable } from 'kysely';
import type {
  CachedResponsesTable,
  ChargesTable,
  EntriesTable,
  HoldsTable,
  IdempotentResponsesTable,
  Tables,
} from '../db/schema.ts';
import type { Changes } from './changes.ts';
import type { LedgerId } from './commands.ts';
import type { Names } from './postgres-names.ts';
import {
  bodyIfKept,
  type EntryRow,
  type HoldRow,
  ofKeepingAccount,
  onOlderAnswer,
  onOwnClaim,
  rowOfCached,
  rowOfCharge,
  rowOfEntry,
  rowOfHold,
  rowOfResponse,
} from './rows.ts';

/** Plans that are made once, and stay right when tables grow: everything here is found by its key. */
export const ledgerSettings = [
  ...['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map((name) => `set ${name} = off`),
  'set plan_cache_mode = force_generic_plan',
];

export type LedgerRow = Selectable<Tables['ledgers']> & { readonly frozen: 0 | 1 };
export type WindowRow = Selectable<Tables['key_windows']>;

export type LoadedRows = {
  readonly now_ms: number;
  /** null: this process has no lease. */
  readonly lease_ends_at_ms: number | null;
  readonly ledgers: readonly LedgerRow[];
  readonly holds: readonly HoldRow[];
  readonly entries: readonly EntryRow[];
  readonly windows: readonly WindowRow[];
};

/** $1: ledgers by name; $2: holds, whose ledgers are meant too. What became of a hold that is no longer open is in the journal. */
const lockText = `
select id from ledgers where id = any(array(
  select unnest($1::text[])
  union select ledger_id from holds where id = any($2::text[])
  union select ledger_id from entries where kind = 'reserve' and id = any(array(
    select unnest($2::text[]) except select id from holds where id = any($2::text[])
  ))
)) order by id for update`;

/** The database's clock, or a test's. */
export const nowMs = (parameter: string) =>
  `coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`;

const startOf = (format: string) => `to_char(to_timestamp(moment.ms / 1000.0) at time zone 'UTC', '${format}')`;

/**
 * An open hold says it all; of any other, and of what $3 names, the journal is read. A ledger's time may be ahead of the clock, so the
 * windows of a new hold are the present ones and any later. `limit` keeps each look at a window a look by its key.
 */
const loadText = `
with moment as materialized (select ${nowMs('$5')} as ms),
held as materialized (select * from holds where id = any($2::text[])),
ended as materialized (select unnest($2::text[]) as id except select id from held),
known as materialized (
  select * from entries where id = any(array(select unnest($3::text[]) union select id from ended))
),
spent_in as materialized (
  select ledger_id, key_id, day, month from held
  union select ledger_id, key_id, day, month from known where kind = 'reserve' and id = any(array(select id from ended))
),
spent_windows as (
  select key_id, 'day' as kind, day as starts_on from spent_in union select key_id, 'month', month from spent_in
),
present_windows as (
  select asked.key_id, present.kind, present.starts_on
  from moment, unnest($4::text[]) as asked (key_id),
    lateral (values ('day', ${startOf('YYYY-MM-DD')}), ('month', ${startOf('YYYY-MM')})) as present (kind, starts_on)
),
touched_windows as (
  select found.* from spent_windows as of, lateral (
    select * from key_windows as it where it.key_id = of.key_id and it.kind = of.kind and it.starts_on = of.starts_on limit 1
  ) as found
  union select found.* from present_windows as of, lateral (
    select * from key_windows as it where it.key_id = of.key_id and it.kind = of.kind and it.starts_on >= of.starts_on limit 1000
  ) as found
),
touched_ledgers as (
  select ledgers.*, accounts.frozen from ledgers join accounts on accounts.id = ledgers.account_id
  where ledgers.id = any(array(select unnest($1::text[]) union select ledger_id from spent_in))
)
select json_build_object(
  'now_ms', (select ms from moment),
  'lease_ends_at_ms', (select expires_at_ms from hold_owners where owner = $6),
  'ledgers', (select coalesce(json_agg(row), '[]') from touched_ledgers as row),
  'holds', (select coalesce(json_agg(row), '[]') from held as row),
  'entries', (select coalesce(json_agg(row), '[]') from known as row),
  'windows', (select coalesce(json_agg(row), '[]') from touched_windows as row)
) as loaded`;

/** Every column that a new row brings; the compiler keeps the lists complete. */
const entryColumns = columns<Omit<EntriesTable, 'seq'>>({
  id: 1,
  kind: 1,
  ledger_id: 1,
  key_id: 1,
  posted_delta_micros: 1,
  held_delta_micros: 1,
  loss_micros: 1,
  available_micros: 1,
  day: 1,
  month: 1,
  daily_cap_micros: 1,
  monthly_cap_micros: 1,
  note: 1,
  created_at_ms: 1,
});
const chargeColumns = columns<ChargesTable>({
  id: 1,
  ledger_id: 1,
  key_id: 1,
  model_id: 1,
  model_name: 1,
  endpoint: 1,
  provider: 1,
  input_tokens: 1,
  cache_read_tokens: 1,
  cache_write_tokens: 1,
  cache_write_1h_tokens: 1,
  output_tokens: 1,
  reasoning_tokens: 1,
  web_searches: 1,
  usage_source: 1,
  price_version: 1,
  price_id: 1,
  upstream_cost_micros: 1,
  ending: 1,
  streamed: 1,
  cost_micros: 1,
  loss_micros: 1,
  hold_micros: 1,
  created_at_ms: 1,
});
const holdColumns = columns<HoldsTable>({
  id: 1,
  ledger_id: 1,
  key_id: 1,
  amount_micros: 1,
  day: 1,
  month: 1,
  daily_cap_micros: 1,
  monthly_cap_micros: 1,
  owner: 1,
  created_at_ms: 1,
});

/** With their types, since a body comes in as text. */
const responseTypes = {
  key_id: 'text',
  key_digest: 'text',
  fingerprint: 'text',
  state: 'text',
  owner: 'text',
  request_id: 'text',
  status: 'bigint',
  content_type: 'text',
  headers: 'text',
  stored_at_ms: 'bigint',
  expires_at_ms: 'bigint',
} satisfies Record<keyof Omit<IdempotentResponsesTable, 'body'>, string>;
const cachedTypes = {
  account_id: 'text',
  digest: 'text',
  generation: 'bigint',
  content_type: 'text',
  headers: 'text',
  size_bytes: 'bigint',
  created_at_ms: 'bigint',
  expires_at_ms: 'bigint',
} satisfies Record<keyof Omit<CachedResponsesTable, 'body'>, string>;
const columnsIn = (types: object) => Object.keys(types).join(', ');
const typedRow = (types: object) =>
  `row (${Object.entries(types)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')}, body text)`;

/** Entries are numbered in the order in which they were decided. */
const saveText = `
with changed_ledgers as (
  update ledgers set posted_micros = row.posted_micros, held_micros = row.held_micros, input_tokens = row.input_tokens,
    output_tokens = row.output_tokens, last_entry_at_ms = row.last_entry_at_ms
  from json_populate_recordset(null::ledgers, $1) as row where ledgers.id = row.id
),
changed_windows as (
  insert into key_windows (key_id, kind, starts_on, settled_micros, held_micros)
  select key_id, kind, starts_on, settled_micros, held_micros from json_populate_recordset(null::key_windows, $2)
  on conflict (key_id, kind, starts_on) do update set settled_micros = excluded.settled_micros, held_micros = excluded.held_micros
),
opened_holds as (insert into holds (${holdColumns}) select ${holdColumns} from json_populate_recordset(null::holds, $3)),
enlarged_holds as (
  update holds set amount_micros = row.amount_micros from json_populate_recordset(null::holds, $4) as row where holds.id = row.id
),
ended_holds as (delete from holds where id = any($5::text[])),
new_prices as (
  insert into prices (id, terms) select id, terms from json_populate_recordset(null::prices, $8) on conflict do nothing
),
new_charges as (insert into charges (${chargeColumns}) select ${chargeColumns} from json_populate_recordset(null::charges, $6)),
new_responses as (
  insert into idempotent_responses (${columnsIn(responseTypes)}, body)
  select ${columnsIn(responseTypes)}, decode(${bodyIfKept}, 'base64') from json_to_recordset($9) as ${typedRow(responseTypes)}
  ${onOwnClaim}
),
new_cached as (
  insert into cached_responses (${columnsIn(cachedTypes)}, body)
  select ${Object.keys(cachedTypes)
    .map((name) => `row.${name}`)
    .join(', ')}, decode(row.body, 'base64')
  from json_to_recordset($10) as ${typedRow(cachedTypes)} join accounts on ${ofKeepingAccount}
  ${onOlderAnswer}
)
insert into entries (${entryColumns})
select ${entryColumns} from rows from (json_populate_recordset(null::entries, $7)) with ordinality order by ordinality`;

/** Locks the ledgers that a batch touches, in one order everywhere; returns which there are. Whoever holds these locks owns all that is loaded next. */
export async function lockLedgers(client: ClientBase, { ledgerIds, holdIds }: Names): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({ name: 'ledger-lock', text: lockText, values: [ledgerIds, holdIds] });
  return new Set(rows.map(({ id }) => id));
}

/** A statement of its own: the one that waited for the locks sees everything else as it was before the wait. */
export async function loadRows(
  client: ClientBase,
  names: Names,
  { clockMs, owner }: { readonly clockMs: number | null; readonly owner: string | null },
): Promise<LoadedRows> {
  const values = [names.ledgerIds, names.holdIds, names.entryIds, names.keyIds, clockMs, owner];
  const { rows } = await client.query<{ loaded: LoadedRows }>({ name: 'ledger-load', text: loadText, values });
  return rows[0]!.loaded;
}

export async function saveChanges(client: ClientBase, changes: Changes): Promise<void> {
  const values = [
    JSON.stringify(changes.ledgers.map(rowOfLedger)),
    JSON.stringify(changes.windows.map(rowOfWindow)),
    JSON.stringify(changes.openedHolds.map(rowOfHold)),
    JSON.stringify(changes.enlargedHolds.map(rowOfHold)),
    changes.endedHoldIds,
    JSON.stringify(changes.charges.map(rowOfCharge)),
    JSON.stringify(changes.entries.map(rowOfEntry)),
    JSON.stringify(changes.prices),
    JSON.stringify(changes.responses.map(rowOfResponse)),
    JSON.stringify(changes.cached.map(rowOfCached)),
  ];
  await client.query({ name: 'ledger-save', text: saveText, values });
}

function rowOfLedger({ id, state }: { readonly id: LedgerId; readonly state: Changes['ledgers'][number]['state'] }) {
  return {
    id,
    posted_micros: state.postedMicros,
    held_micros: state.heldMicros,
    input_tokens: state.inputTokens,
    output_tokens: state.outputTokens,
    last_entry_at_ms: state.lastEntryAtMs,
  };
}

function rowOfWindow({ keyId, kind, startsOn, settledMicros, heldMicros }: Changes['windows'][number]): WindowRow {
  return { key_id: keyId, kind, starts_on: startsOn, settled_micros: settledMicros, held_micros: heldMicros };
}

function columns<Row>(names: Readonly<Record<keyof Row, 1>>): string {
  return Object.keys(names).join(', ');
}
