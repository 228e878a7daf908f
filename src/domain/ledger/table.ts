// A table as data: from its columns derive the values that a store saves, the record that a row is
// read as, and the SQL of conflicts. columns.ts describes the ledger's tables.

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

/** The type of each column, and its field unless that has the same name. */
export type Columns<Row, Fields> = {
  readonly [Name in keyof Row & string]:
    | (Name extends keyof Fields ? ColumnType : never)
    | readonly [ColumnType, FieldOf<Fields>];
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

export function defineTable<Row, Fields = Row>(
  name: string,
  columns: Columns<Row, Fields>,
  conflict = '',
): Table<Row, Fields> {
  const described = Object.entries<ColumnType | readonly [ColumnType, string]>(columns).map(
    ([column, given]) => {
      const [type, field] = typeof given === 'string' ? [given, column] : given;
      const [part, inner] = field.split('.');
      return { column, type, part: part!, inner };
    },
  );
  const names = described.map(({ column }) => column as keyof Row & string);
  const valuesOf = (record: Fields): readonly Value[] =>
    described.map(({ type, part, inner }) => {
      const outer = (record as Record<string, unknown>)[part];
      const value = inner === undefined ? outer : (outer as Record<string, unknown>)[inner];
      return type === 'flag' ? Number(value) : ((value ?? null) as Value);
    });
  return {
    name,
    columns: names,
    types: described.map(({ type }) => type),
    conflict,
    valuesOf,
    rowOf: (record) =>
      Object.fromEntries(valuesOf(record).map((value, index) => [names[index], value])) as Row,
    recordOf: (row) => {
      const record: Record<string, unknown> = {};
      for (const { column, type, part, inner } of described) {
        const stored = (row as Record<string, unknown>)[column];
        const value = type === 'flag' ? stored === 1 : stored;
        if (inner === undefined) record[part] = value;
        else ((record[part] ??= {}) as Record<string, unknown>)[inner] = value;
      }
      return record as Fields;
    },
  };
}

/** Returns the conflict clause that replaces columns of the existing row. */
export function replacing(key: string, columns: readonly string[]): string {
  const set = columns.map((column) => `${column} = excluded.${column}`);
  return `on conflict (${key}) do update set ${set.join(', ')}`;
}

/** A table of sums, whose rows are also kept in memory by `idOf`. */
export type SumTable<Row> = Table<Row, Row> & {
  readonly idOf: (row: Row) => string;
  /** Adds to the row with the same key. Throws RangeError beyond the safe integers. */
  readonly add: (rows: Map<string, Row>, row: Row) => void;
  /** Returns one row for each key. */
  readonly sum: (rows: Iterable<Row>) => readonly Row[];
};

/** `key`: the columns that name a row. */
export function defineSums<Row>(
  name: string,
  key: readonly (keyof Row & string)[],
  sums: readonly (keyof Row & string)[],
): SumTable<Row> {
  const typed = [
    ...key.map((column) => [column, 'text']),
    ...sums.map((column) => [column, 'bigint']),
  ];
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
    ...defineTable<Row>(name, Object.fromEntries(typed) as Columns<Row, Row>, conflict),
    idOf,
    add,
    sum: (single) => {
      const rows = new Map<string, Row>();
      for (const row of single) add(rows, row);
      return [...rows.values()];
    },
  };
}
