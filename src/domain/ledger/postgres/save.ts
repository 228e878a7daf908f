// Saves a batch on PostgreSQL with one statement, made of the parts for which the batch has rows.
// Each column of a part is one array parameter: the server reads arrays in two thirds of the time
// of JSON rows.
import type { ClientBase } from 'pg';
import type { Changes } from '../changes.ts';
import { chargeDaysTable } from '../charge-days.ts';
import { tagDaysTable } from '../charge-tags.ts';
import * as tables from '../columns.ts';
import { lossDaysTable } from '../loss-days.ts';
import type { Table, Value } from '../table.ts';

type Part = {
  readonly columns: readonly string[];
  /** The types of the columns. */
  readonly types: readonly string[];
  readonly rowsOf: (changes: Changes) => readonly (readonly Value[])[];
  /** Builds the part's SQL. `rows` is a source called `row` with these columns. */
  readonly statement: (rows: string, columns: string) => string;
};

const { ledgersTable } = tables;
const postgresTypes = { text: 'text', bigint: 'bigint', flag: 'smallint', bytes: 'text' } as const;

const parts: readonly Part[] = [
  {
    columns: [...ledgersTable.columns, 'id'],
    types: [...ledgersTable.types, 'text'],
    rowsOf: ({ ledgers }) => ledgers.map(({ id, state }) => [...ledgersTable.valuesOf(state), id]),
    statement: (rows) =>
      `update ledgers set ${ledgersTable.columns.map((name) => `${name} = row.${name}`).join(', ')}
      from ${rows} where ledgers.id = row.id`,
  },
  insert(tables.windowsTable, ({ windows }) => windows),
  insert(tables.holdsTable, ({ openedHolds }) => openedHolds),
  {
    columns: ['id', 'amount_micros'],
    types: ['text', 'bigint'],
    rowsOf: ({ enlargedHolds }) => enlargedHolds.map(({ id, amountMicros }) => [id, amountMicros]),
    statement: (rows) =>
      `update holds set amount_micros = row.amount_micros from ${rows} where holds.id = row.id`,
  },
  {
    columns: ['id'],
    types: ['text'],
    rowsOf: ({ endedHoldIds }) => endedHoldIds.map((id) => [id]),
    statement: (rows) => `delete from holds using ${rows} where holds.id = row.id`,
  },
  insert(tables.pricesTable, ({ prices }) => prices),
  insert(tables.chargesTable, ({ charges }) => charges),
  insert(chargeDaysTable, ({ chargeDays }) => chargeDays),
  insert(tables.chargeTagsTable, ({ chargeTags }) => chargeTags),
  insert(tagDaysTable, ({ tagDays }) => tagDays),
  insert(lossDaysTable, ({ lossDays }) => lossDays),
  insertAnswer(tables.responsesTable, ({ responses }) => responses, {
    body: tables.bodyIfRetained,
  }),
  insertAnswer(tables.cachedTable, ({ cached }) => cached, {
    join: `join accounts on ${tables.accountStoresAnswer}`,
  }),
  // `seq` numbers the rows in their order, which is the order of the decisions.
  insert(tables.entriesTable, ({ entries }) => entries),
  insert(tables.auditLogTable, ({ auditRows }) => auditRows),
];

function insert<Row, Fields>(
  { name, columns, types, conflict, valuesOf }: Table<Row, Fields>,
  recordsOf: (changes: Changes) => readonly Fields[],
): Part {
  return {
    columns,
    types: types.map((type) => postgresTypes[type]),
    rowsOf: (changes) => recordsOf(changes).map(valuesOf),
    statement: (rows, names) =>
      `insert into ${name} (${names}) select ${names} from ${rows} ${conflict}`,
  };
}

/** Inserts an answer, which depends on the current state of its account. */
function insertAnswer<Row, Fields>(
  table: Table<Row, Fields>,
  recordsOf: (changes: Changes) => readonly Fields[],
  { body = 'row.body', join = '' },
): Part {
  const selected = table.columns.map((column) =>
    column === 'body' ? `decode(${body}, 'base64')` : `row.${column}`,
  );
  return {
    ...insert(table, recordsOf),
    statement: (rows, names) => `insert into ${table.name} (${names})
      select ${selected.join(', ')} from ${rows} ${join} ${table.conflict}`,
  };
}

/** Saves everything or nothing, because it is one statement. */
export async function saveChanges(client: ClientBase, changes: Changes): Promise<void> {
  const needed = parts
    .map((part) => ({ part, rows: part.rowsOf(changes) }))
    .filter(({ rows }) => rows.length > 0);
  const values = needed.flatMap(({ part, rows }) =>
    part.columns.map((_, index) => arrayOf(rows, index)),
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
  const texts = needed.map(({ columns, types, statement }, index) => {
    const arrays = columns.map(
      (name, place) => `unnest($${(parameters += 1)}::${types[place]}[]) as ${name}`,
    );
    return `part_${index} as (${statement(`(select ${arrays.join(', ')}) as row`, columns.join(', '))})`;
  });
  return `with ${texts.join(', ')} select`;
}

/** Writes a column as a PostgreSQL array literal; pg's own serialisation takes twice as long. */
function arrayOf(rows: readonly (readonly Value[])[], column: number): string {
  return `{${rows.map((row) => elementOf(row[column]!)).join(',')}}`;
}

function elementOf(value: string | number | null): string | number {
  if (value === null) return 'null';
  return typeof value === 'number'
    ? value
    : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
