// Copies all tables between SQLite and PostgreSQL while no gateway runs. The tables are those that
// both sides have, in the order of their references: databases from before the first release may have
// some that nothing reads. Each is copied in the order of its key, a page a transaction, so that an
// interrupted copy goes on after the last row that arrived.
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { DatabaseUnusable } from './database-error.ts';
import { isSqlite } from './dialect.ts';
import { movePrefix, pendingMigrations, recordedMigrations } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import type { Database } from './port.ts';
import type { Db } from './schema.ts';

type Row = Record<string, unknown>;
type Table = {
  readonly name: string;
  /** With the types of SQLite. */
  readonly columns: ReadonlyMap<string, string>;
  readonly key: readonly string[];
  readonly needs: readonly string[];
};

/** What of a table arrived, the same on both sides. */
export type MovedTable = {
  readonly name: string;
  readonly rows: number;
  /** Sums of its columns of money, in microdollars. */
  readonly micros: Readonly<Record<string, string>>;
};

/** Rows that a new database has. */
const seeded = ['revisions', 'sealing', 'hold_owners'];
const parametersMax = 30_000;
const rowsAtOnce = 500;
/** A row with bodies may have megabytes. */
const bodiesAtOnce = 10;

/**
 * Copies into a new database, or goes on with a copy of the same source. The target is closed to
 * gateways until `finishMove`. Throws DatabaseUnusable when the source is not of this version's
 * schema, when the target has other data, and when what arrived differs.
 */
export async function moveDatabase(
  source: Database,
  target: Database,
  onTable: (moved: MovedTable) => void,
): Promise<readonly MovedTable[]> {
  const store = isSqlite(source.read) ? 'sqlite' : 'postgres';
  const recorded = await recordedMigrations(source.read);
  if (Object.keys(pendingMigrations(recorded, migrations[store])).length > 0)
    throw new DatabaseUnusable('The database is not up to date: run "tollgate migrate" first.');
  const first = await source.read
    .selectFrom('accounts')
    .select('id')
    .orderBy('created_at_ms')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (!first)
    throw new DatabaseUnusable('This database has no account, so there is nothing to move.');
  const tables = await openTarget(source, target, `${movePrefix}${first.id}-needs-9999`);
  const [state, moved] = [await stateOf(source.read), [] as MovedTable[]];
  for (const table of tables) {
    for (let after = await lastKey(target.write, table); ;) {
      const rows = await readPage(source.read, table, after);
      if (rows.length === 0) break;
      await writePage(target.write, table, rows);
      after = keyOf(table, rows.at(-1)!);
    }
    const [there, here] = [
      await summarise(source.read, table),
      await summarise(target.write, table),
    ];
    if (there.digest !== here.digest)
      throw changedMeanwhile(
        `${table.name} differs: ${there.rows} rows in the source, ${here.rows} in the target`,
      );
    const { rows, micros } = here;
    moved.push({ name: table.name, rows, micros });
    onTable(moved.at(-1)!);
  }
  if ((await stateOf(source.read)) !== state) throw changedMeanwhile('something was written');
  return moved;
}

/** Changes with each entry of the books, each change of a key and each audited change. */
async function stateOf(read: Db): Promise<string> {
  const { rows } = await sql`select (select max(seq) from entries) as entries,
    (select count(*) from audit_log) as changes, (select max(value) from revisions) as keys`.execute(
    read,
  );
  return JSON.stringify(rows);
}

function changedMeanwhile(what: string): DatabaseUnusable {
  return new DatabaseUnusable(
    `The source was changed during the move, or since an earlier try (${what}). Remove the target and begin again, while nothing else uses the source.`,
  );
}

/** Opens the target to gateways, and has `note` write down that it was moved, both or neither. */
export async function finishMove(
  write: Db,
  note: (transaction: Db) => Promise<void>,
): Promise<void> {
  if (!isSqlite(write)) await continueSequences(write);
  await write.transaction().execute(async (transaction) => {
    await sql`delete from kysely_migration where name like ${`${movePrefix}%`}`.execute(
      transaction,
    );
    await note(transaction);
  });
}

async function openTarget(
  source: Database,
  target: Database,
  marker: string,
): Promise<readonly Table[]> {
  const tablesOfBoth = () =>
    isSqlite(source.read)
      ? readTables(source.read, target.write)
      : readTables(target.write, source.read);
  const markers = (await recordedMigrations(target.read)).filter((name) =>
    name.startsWith(movePrefix),
  );
  if (markers.length > 0) {
    if (markers[0] === marker) return tablesOfBoth();
    throw new DatabaseUnusable(
      'The target has a part of another database, from a move that has not ended. Remove it, or name a new one.',
    );
  }
  await target.migrate();
  const tables = await tablesOfBoth();
  await target.write.transaction().execute(async (transaction) => {
    for (const { name } of tables) {
      const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(transaction);
      if (rows.length > 0 && !seeded.includes(name))
        throw new DatabaseUnusable(
          `The target has data: ${name} is not empty. Name a new database, or remove what it has.`,
        );
    }
    for (const name of seeded) await sql`delete from ${sql.table(name)}`.execute(transaction);
    await sql`insert into kysely_migration (name, timestamp) values (${marker}, ${marker})`.execute(
      transaction,
    );
  });
  return tables;
}

/** Reads the tables of a SQLite database that another has, too, in the order of their references. */
async function readTables(db: Db, another: Db): Promise<readonly Table[]> {
  const known = new Set((await another.introspection.getTables()).map(({ name }) => name));
  const all = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' order by name`.execute(db);
  const names = all.rows.filter(({ name }) => known.has(name));
  const tables: Table[] = [];
  for (const { name } of names) {
    const info = await sql<{
      name: string;
      type: string;
      pk: number;
    }>`select name, lower(type) as type, pk from pragma_table_info(${name}) order by pk`.execute(
      db,
    );
    const needs = await sql<{
      table: string;
    }>`select "table" from pragma_foreign_key_list(${name})`.execute(db);
    tables.push({
      name,
      columns: new Map(info.rows.map((column) => [column.name, column.type])),
      key: info.rows.filter(({ pk }) => pk > 0).map((column) => column.name),
      needs: needs.rows.map(({ table }) => table).filter((other) => other !== name),
    });
  }
  return inOrder(tables);
}

/** `revisions` comes last, because triggers of the others raise it. */
function inOrder(tables: readonly Table[]): readonly Table[] {
  const ordered: Table[] = [];
  for (let rest = tables.filter(({ name }) => name !== 'revisions'); rest.length > 0;) {
    const ready = rest.filter(({ needs }) => !rest.some(({ name }) => needs.includes(name)));
    if (ready.length === 0)
      throw new Error(`tables refer to one another: ${rest.map(({ name }) => name).join(', ')}`);
    ordered.push(...ready);
    rest = rest.filter((table) => !ready.includes(table));
  }
  return [...ordered, ...tables.filter(({ name }) => name === 'revisions')];
}

/** By bytes on both databases. */
function ordersOf(db: Db, { key, columns }: Table): RawBuilder<unknown>[] {
  return key.map((name) =>
    !isSqlite(db) && columns.get(name) === 'text'
      ? sql`${sql.ref(name)} collate "C"`
      : sql`${sql.ref(name)}`,
  );
}

async function readPage(
  db: Db,
  table: Table,
  after: readonly unknown[] | null,
): Promise<readonly Row[]> {
  const orders = ordersOf(db, table);
  const since = after === null ? sql`` : sql`where (${sql.join(orders)}) > (${sql.join(after)})`;
  const hasBodies = [...table.columns.values()].includes('blob');
  const limit = hasBodies
    ? bodiesAtOnce
    : Math.min(rowsAtOnce, Math.floor(parametersMax / table.columns.size));
  const columns = sql.join([...table.columns.keys()].map((name) => sql.ref(name)));
  const { rows } =
    await sql<Row>`select ${columns} from ${sql.table(table.name)} ${since} order by ${sql.join(orders)} limit ${limit}`.execute(
      db,
    );
  return rows.map((row) => toPlain(table, row));
}

/** Times as ISO texts and flags as numbers, which both databases take. */
function toPlain({ columns, name: table }: Table, row: Row): Row {
  const plain = (value: unknown, name: string): unknown => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (value === null || columns.get(name) !== 'date') return value;
    const time = new Date(value as string | Date);
    if (Number.isNaN(time.getTime()))
      throw new DatabaseUnusable(`${table}.${name} has a time that is none`);
    return time.toISOString();
  };
  return Object.fromEntries([...columns.keys()].map((name) => [name, plain(row[name], name)]));
}

function keyOf({ key }: Table, row: Row): readonly unknown[] {
  return key.map((name) => row[name]);
}

async function lastKey(db: Db, table: Table): Promise<readonly unknown[] | null> {
  const last = sql.join(ordersOf(db, table).map((order) => sql`${order} desc`));
  const keys = sql.join(table.key.map((name) => sql.ref(name)));
  const { rows } =
    await sql<Row>`select ${keys} from ${sql.table(table.name)} order by ${last} limit 1`.execute(
      db,
    );
  return rows[0] ? keyOf(table, rows[0]) : null;
}

async function writePage(db: Db, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const names = [...columns.keys()];
  const values = rows.map((row) => sql`(${sql.join(names.map((column) => row[column]))})`);
  await sql`insert into ${sql.table(name)} (${sql.join(names.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(
    db,
  );
}

async function summarise(
  db: Db,
  table: Table,
): Promise<Omit<MovedTable, 'name'> & { readonly digest: string }> {
  const digest = createHash('sha256');
  const sums = new Map<string, bigint>();
  const money = [...table.columns.keys()].filter((name) => name.endsWith('_micros'));
  let count = 0;
  for (let after: readonly unknown[] | null = null; ;) {
    const rows: readonly Row[] = await readPage(db, table, after);
    if (rows.length === 0) break;
    for (const row of rows) {
      const bytes = (_name: string, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
      // An own `toJSON` of buffers would come before the replacer.
      digest.update(
        JSON.stringify(Object.entries(row).map(([name, value]) => [name, bytes(name, value)])),
      );
      for (const name of money)
        sums.set(name, (sums.get(name) ?? 0n) + BigInt((row[name] as number | null) ?? 0));
    }
    count += rows.length;
    after = keyOf(table, rows.at(-1)!);
  }
  const micros = Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)]));
  return { rows: count, micros, digest: digest.digest('hex') };
}

/** Copied numbers do not move a sequence of PostgreSQL. */
async function continueSequences(db: Db): Promise<void> {
  const columns = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = current_schema() and is_identity = 'YES'`.execute(db);
  for (const { table_name: table, column_name: column } of columns.rows)
    await sql`select setval(pg_get_serial_sequence(${table}, ${column}), coalesce(max(${sql.ref(column)}), 0) + 1, false) from ${sql.table(table)}`.execute(
      db,
    );
}
