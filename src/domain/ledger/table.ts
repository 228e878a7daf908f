// A table of the ledger as data, by its description: the values that a store saves,
// the record that a row is read as, and the SQL of conflicts. columns.ts has the tables.
import { columnsOf, keyOf, tables } from '../../db/tables.ts';
import { type CamelName, camelName } from '../../lib/snake-case.ts';

type TableName = keyof typeof tables;
type KeyedTable = {
  [Name in TableName]: 'primary key' extends keyof (typeof tables)[Name] ? Name : never;
}[TableName];

/**
 * A flag is 0 or 1 in the database and a boolean in the record; bytes are base64 in the record.
 * Sums and times are whole numbers.
 */
type ColumnType = 'text' | 'bigint' | 'flag' | 'bytes';
export type Value = string | number | null;

type Primitive = string | number | boolean | null | undefined;

/** The name of a field, or `part.field` for one of an object in the record. */
type FieldOf<Fields> = {
  [Name in keyof Fields & string]: Fields[Name] extends Primitive
    ? Name
    : `${Name}.${keyof Fields[Name] & string}`;
}[keyof Fields & string];

/** The fields of columns that have not the column's name in camel case. */
type Renamed<Row, Fields> = {
  readonly [
    Name in keyof Row & string as CamelName<Name> extends keyof Fields ? never : Name
  ]: FieldOf<Fields>;
};

export type Table<Row, Fields> = {
  readonly name: string;
  readonly columns: readonly (keyof Row & string)[];
  readonly types: readonly ColumnType[];
  /** SQL at the end of an insert: what happens if the row exists; '' when none can. */
  readonly conflict: string;
  /** Returns the values to save, in the order of the columns. */
  readonly valuesOf: (record: Fields) => readonly Value[];
  readonly recordOf: (row: Row) => Fields;
  readonly rowOf: (record: Fields) => Row;
};

type TableOptions = {
  readonly conflict?: string;
  /** Columns that are not saved with the others. */
  readonly without?: readonly string[];
};

export function defineTable<Row, Fields>(
  name: TableName,
  renamed: Renamed<Row, Fields>,
  options?: TableOptions,
): Table<Row, Fields> {
  const names = renamed as Readonly<Record<string, string>>;
  return tableBy(name, (column) => names[column] ?? camelName(column), options);
}

/** A table whose records are its rows. */
export function defineRows<Row>(name: TableName, options?: TableOptions): Table<Row, Row> {
  return tableBy(name, (column) => column, options);
}

function tableBy<Row, Fields>(
  name: TableName,
  fieldOf: (column: string) => string,
  { conflict = '', without = [] }: TableOptions = {},
): Table<Row, Fields> {
  const columns = savedColumns(name, without).map(([column, text]) => {
    const [part, inner] = fieldOf(column).split('.');
    return { column, type: typeOf(text), part: part!, inner };
  });
  const names = columns.map(({ column }) => column as keyof Row & string);
  const valuesOf = (record: Fields): readonly Value[] =>
    columns.map(({ type, part, inner }) => {
      const outer = (record as Record<string, unknown>)[part];
      const value = inner === undefined ? outer : (outer as Record<string, unknown>)[inner];
      return type === 'flag' ? Number(value) : ((value ?? null) as Value);
    });
  return {
    name,
    columns: names,
    types: columns.map(({ type }) => type),
    conflict,
    valuesOf,
    rowOf: (record) =>
      Object.fromEntries(valuesOf(record).map((value, index) => [names[index], value])) as Row,
    recordOf: (row) => {
      const record: Record<string, unknown> = {};
      for (const { column, type, part, inner } of columns) {
        const stored = (row as Record<string, unknown>)[column];
        const value = type === 'flag' ? stored === 1 : stored;
        if (inner === undefined) record[part] = value;
        else ((record[part] ??= {}) as Record<string, unknown>)[inner] = value;
      }
      return record as Fields;
    },
  };
}

/** The database itself numbers rows. */
function savedColumns(name: TableName, without: readonly string[]) {
  return columnsOf(tables[name]).filter(
    ([column, text]) => !text.startsWith('SEQUENCE') && !without.includes(column),
  );
}

function typeOf(text: string): ColumnType {
  if (/^(?:ID|text)\b/.test(text)) return 'text';
  if (text.startsWith('FLAG')) return 'flag';
  return text.startsWith('BYTES') ? 'bytes' : 'bigint';
}

/** Returns the conflict clause that replaces the existing row, except for its key and these columns. */
export function replacing(name: KeyedTable, except: readonly string[] = []): string {
  const key = keyOf(tables[name]);
  const set = savedColumns(name, [...key, ...except]).map(([one]) => `${one} = excluded.${one}`);
  return `on conflict (${key.join(', ')}) do update set ${set.join(', ')}`;
}

/** A table of sums, whose rows are also kept in memory by `idOf`. */
export type SumTable<Row> = Table<Row, Row> & {
  readonly idOf: (row: Row) => string;
  /** Adds to the row with the same key. Throws RangeError beyond the safe integers. */
  readonly add: (rows: Map<string, Row>, row: Row) => void;
  /** Returns one row for each key. */
  readonly sum: (rows: Iterable<Row>) => readonly Row[];
};

/** All columns but the key are sums. */
export function defineSums<Row>(name: KeyedTable, without: readonly string[] = []): SumTable<Row> {
  const key = keyOf(tables[name]) as (keyof Row & string)[];
  const sums = savedColumns(name, [...key, ...without]).map(
    ([column]) => column as keyof Row & string,
  );
  const added = sums.map((column) => `${column} = ${name}.${column} + excluded.${column}`);
  const conflict = `on conflict (${key.join(', ')}) do update set ${added.join(', ')}`;
  const idOf = (row: Row) => key.map((column) => row[column]).join(' ');
  const add = (rows: Map<string, Row>, row: Row) => {
    const id = idOf(row);
    const known = rows.get(id) as Record<string, number> | undefined;
    if (!known) return void rows.set(id, { ...row });
    for (const column of sums) {
      known[column]! += Number(row[column]);
      if (!Number.isSafeInteger(known[column])) throw new RangeError(`${name} cannot hold the sum`);
    }
  };
  return {
    ...defineRows<Row>(name, { conflict, without }),
    idOf,
    add,
    sum: (single) => {
      const rows = new Map<string, Row>();
      for (const row of single) add(rows, row);
      return [...rows.values()];
    },
  };
}
