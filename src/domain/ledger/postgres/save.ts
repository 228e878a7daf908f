// Saves a batch on PostgreSQL with one statement, made of the parts for which the batch has rows.
// Each column of a part is one array parameter: the server reads arrays in two thirds of the time
// of JSON rows.
import type { ClientBase } from 'pg';
import type {
  AuditLogTable,
  CachedResponsesTable,
  ChargeDaysTable,
  ChargeTagsTable,
  ChargesTable,
  EntriesTable,
  HoldsTable,
  IdempotentResponsesTable,
  TagDaysTable,
  Tables,
} from '../../../db/schema.ts';
import type { Changes } from '../changes.ts';
import { addToDaySql } from '../charge-days.ts';
import { addToTagDaySql } from '../charge-tags.ts';
import { addToLossDaySql } from '../loss-days.ts';
import {
  bodyIfRetained,
  accountStoresAnswer,
  replaceOlderAnswer,
  replaceOwnClaim,
  rowOfCached,
  rowOfCharge,
  rowOfEntry,
  rowOfHold,
  rowOfResponse,
} from '../rows.ts';

type Columns<Row> = Readonly<Record<keyof Row & string, 'text' | 'bigint' | 'smallint'>>;

type Part = {
  readonly columns: Columns<Record<string, unknown>>;
  readonly rowsOf: (changes: Changes) => readonly object[];
  /** Builds the part's SQL. `rows` is a source called `row` with these columns. */
  readonly statement: (rows: string, columns: string) => string;
};

/** Every column of a new row; the compiler checks that the lists are complete. */
const entryColumns: Columns<Omit<EntriesTable, 'seq'>> = {
  id: 'text',
  kind: 'text',
  ledger_id: 'text',
  key_id: 'text',
  posted_delta_micros: 'bigint',
  held_delta_micros: 'bigint',
  loss_micros: 'bigint',
  provoked: 'smallint',
  available_micros: 'bigint',
  day: 'text',
  month: 'text',
  daily_cap_micros: 'bigint',
  monthly_cap_micros: 'bigint',
  note: 'text',
  created_at_ms: 'bigint',
};
const chargeColumns: Columns<ChargesTable> = {
  id: 'text',
  ledger_id: 'text',
  key_id: 'text',
  model_id: 'text',
  model_name: 'text',
  endpoint: 'text',
  provider: 'text',
  input_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  cache_write_1h_tokens: 'bigint',
  output_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  web_searches: 'bigint',
  images: 'bigint',
  usage_source: 'text',
  price_version: 'text',
  price_id: 'text',
  upstream_cost_micros: 'bigint',
  ending: 'text',
  streamed: 'smallint',
  cost_micros: 'bigint',
  loss_micros: 'bigint',
  hold_micros: 'bigint',
  attempts: 'bigint',
  duration_ms: 'bigint',
  first_byte_ms: 'bigint',
  created_at_ms: 'bigint',
};
const chargeDayColumns: Columns<ChargeDaysTable> = {
  ledger_id: 'text',
  day: 'text',
  key_id: 'text',
  model_id: 'text',
  endpoint: 'text',
  requests: 'bigint',
  input_tokens: 'bigint',
  cached_tokens: 'bigint',
  output_tokens: 'bigint',
  images: 'bigint',
  cost_micros: 'bigint',
  upstream_cost_micros: 'bigint',
  loss_micros: 'bigint',
};
const chargeTagColumns: Columns<ChargeTagsTable> = {
  ledger_id: 'text',
  tag: 'text',
  created_at_ms: 'bigint',
  charge_id: 'text',
};
const tagDayColumns: Columns<TagDaysTable> = {
  ledger_id: 'text',
  tag: 'text',
  day: 'text',
  key_id: 'text',
  model_id: 'text',
  requests: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cost_micros: 'bigint',
};
const holdColumns: Columns<HoldsTable> = {
  id: 'text',
  ledger_id: 'text',
  key_id: 'text',
  amount_micros: 'bigint',
  day: 'text',
  month: 'text',
  daily_cap_micros: 'bigint',
  monthly_cap_micros: 'bigint',
  owner: 'text',
  cost_at_once_micros: 'bigint',
  cost_per_second_micros: 'bigint',
  created_at_ms: 'bigint',
};
const windowColumns: Columns<Tables['key_windows']> = {
  key_id: 'text',
  kind: 'text',
  starts_on: 'text',
  settled_micros: 'bigint',
  held_micros: 'bigint',
};
/** Bodies are base64. */
const responseColumns: Columns<IdempotentResponsesTable> = {
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
  cost_micros: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  body: 'text',
};
const cachedColumns: Columns<CachedResponsesTable> = {
  account_id: 'text',
  digest: 'text',
  generation: 'bigint',
  content_type: 'text',
  headers: 'text',
  size_bytes: 'bigint',
  created_at_ms: 'bigint',
  expires_at_ms: 'bigint',
  cost_micros: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  body: 'text',
};

const auditColumns: Columns<AuditLogTable> = {
  id: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  address: 'text',
  account_id: 'text',
  action: 'text',
  subject: 'text',
  before: 'text',
  after: 'text',
  created_at_ms: 'bigint',
};

const parts: readonly Part[] = [
  {
    columns: {
      id: 'text',
      posted_micros: 'bigint',
      held_micros: 'bigint',
      input_tokens: 'bigint',
      output_tokens: 'bigint',
      last_entry_at_ms: 'bigint',
    },
    rowsOf: ({ ledgers }) => ledgers.map(rowOfLedger),
    statement: (
      rows,
    ) => `update ledgers set posted_micros = row.posted_micros, held_micros = row.held_micros,
      input_tokens = row.input_tokens, output_tokens = row.output_tokens, last_entry_at_ms = row.last_entry_at_ms
      from ${rows} where ledgers.id = row.id`,
  },
  {
    columns: windowColumns,
    rowsOf: ({ windows }) => windows.map(rowOfWindow),
    statement: (
      rows,
      columns,
    ) => `insert into key_windows (${columns}) select ${columns} from ${rows}
      on conflict (key_id, kind, starts_on) do update set settled_micros = excluded.settled_micros, held_micros = excluded.held_micros`,
  },
  {
    columns: holdColumns,
    rowsOf: ({ openedHolds }) => openedHolds.map(rowOfHold),
    statement: (rows, columns) => `insert into holds (${columns}) select ${columns} from ${rows}`,
  },
  {
    columns: { id: 'text', amount_micros: 'bigint' },
    rowsOf: ({ enlargedHolds }) =>
      enlargedHolds.map(({ id, amountMicros }) => ({ id, amount_micros: amountMicros })),
    statement: (rows) =>
      `update holds set amount_micros = row.amount_micros from ${rows} where holds.id = row.id`,
  },
  {
    columns: { id: 'text' },
    rowsOf: ({ endedHoldIds }) => endedHoldIds.map((id) => ({ id })),
    statement: (rows) => `delete from holds using ${rows} where holds.id = row.id`,
  },
  {
    columns: { id: 'text', terms: 'text' },
    rowsOf: ({ prices }) => prices,
    statement: (rows) =>
      `insert into prices (id, terms) select id, terms from ${rows} on conflict do nothing`,
  },
  {
    columns: chargeColumns,
    rowsOf: ({ charges }) => charges.map(rowOfCharge),
    statement: (rows, columns) => `insert into charges (${columns}) select ${columns} from ${rows}`,
  },
  {
    columns: chargeDayColumns,
    rowsOf: ({ chargeDays }) => chargeDays,
    statement: (rows, columns) =>
      `insert into charge_days (${columns}) select ${columns} from ${rows} ${addToDaySql}`,
  },
  {
    columns: chargeTagColumns,
    rowsOf: ({ chargeTags }) => chargeTags,
    statement: (rows, columns) =>
      `insert into charge_tags (${columns}) select ${columns} from ${rows}`,
  },
  {
    columns: tagDayColumns,
    rowsOf: ({ tagDays }) => tagDays,
    statement: (rows, columns) =>
      `insert into tag_days (${columns}) select ${columns} from ${rows} ${addToTagDaySql}`,
  },
  {
    columns: { ledger_id: 'text', day: 'text', provoked_micros: 'bigint' },
    rowsOf: ({ lossDays }) => lossDays,
    statement: (rows, columns) =>
      `insert into loss_days (${columns}) select ${columns} from ${rows} ${addToLossDaySql}`,
  },
  {
    columns: responseColumns,
    rowsOf: ({ responses }) => responses.map(rowOfResponse),
    statement: (rows, columns) => `insert into idempotent_responses (${columns})
      select ${withBytes(columns, bodyIfRetained)} from ${rows} ${replaceOwnClaim}`,
  },
  {
    columns: cachedColumns,
    rowsOf: ({ cached }) => cached.map(rowOfCached),
    statement: (rows, columns) => `insert into cached_responses (${columns})
      select ${withBytes(columns, 'row.body')} from ${rows} join accounts on ${accountStoresAnswer} ${replaceOlderAnswer}`,
  },
  {
    columns: entryColumns,
    rowsOf: ({ entries }) => entries.map(rowOfEntry),
    // `seq` numbers the rows in their order, which is the order of the decisions.
    statement: (rows, columns) => `insert into entries (${columns}) select ${columns} from ${rows}`,
  },
  {
    columns: auditColumns,
    rowsOf: ({ auditRows }) => auditRows,
    statement: (rows, columns) =>
      `insert into audit_log (${columns}) select ${columns} from ${rows}`,
  },
];

/** Returns the columns of `row`, with the body decoded to bytes. */
function withBytes(columns: string, body: string): string {
  return columns.replaceAll(/\w+/g, (name) =>
    name === 'body' ? `decode(${body}, 'base64')` : `row.${name}`,
  );
}

/** Saves everything or nothing, because it is one statement. */
export async function saveChanges(client: ClientBase, changes: Changes): Promise<void> {
  const needed = parts
    .map((part) => ({ part, rows: part.rowsOf(changes) }))
    .filter(({ rows }) => rows.length > 0);
  const values = needed.flatMap(({ part, rows }) =>
    Object.keys(part.columns).map((name) => arrayOf(rows, name)),
  );
  await client.query({ ...statementOf(needed.map(({ part }) => part)), values });
}

const statements = new Map<string, { readonly name: string; readonly text: string }>();

function statementOf(needed: readonly Part[]): { readonly name: string; readonly text: string } {
  const name = `ledger-save-${needed.map((part) => parts.indexOf(part)).join('-')}`;
  const statement = statements.get(name) ?? { name, text: textOf(needed) };
  statements.set(name, statement);
  return statement;
}

/** Unnests the arrays side by side, which gives rows in order without materialising them. */
function textOf(needed: readonly Part[]): string {
  let parameters = 0;
  const texts = needed.map(({ columns, statement }, index) => {
    const arrays = Object.entries(columns).map(
      ([name, type]) => `unnest($${(parameters += 1)}::${type}[]) as ${name}`,
    );
    return `part_${index} as (${statement(`(select ${arrays.join(', ')}) as row`, Object.keys(columns).join(', '))})`;
  });
  return `with ${texts.join(', ')} select`;
}

/** Writes a column as a PostgreSQL array literal; pg's own serialisation takes twice as long. */
function arrayOf(rows: readonly object[], column: string): string {
  return `{${rows.map((row) => elementOf((row as Record<string, string | number | null>)[column]!)).join(',')}}`;
}

function elementOf(value: string | number | null): string | number {
  if (value === null) return 'null';
  return typeof value === 'number'
    ? value
    : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}

function rowOfLedger({ id, state }: Changes['ledgers'][number]) {
  return {
    id,
    posted_micros: state.postedMicros,
    held_micros: state.heldMicros,
    input_tokens: state.inputTokens,
    output_tokens: state.outputTokens,
    last_entry_at_ms: state.lastEntryAtMs,
  };
}

function rowOfWindow({
  keyId,
  kind,
  startsOn,
  settledMicros,
  heldMicros,
}: Changes['windows'][number]) {
  return {
    key_id: keyId,
    kind,
    starts_on: startsOn,
    settled_micros: settledMicros,
    held_micros: heldMicros,
  };
}
