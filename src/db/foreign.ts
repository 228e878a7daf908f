// Reads the database of another gateway, without changing it: whole tables, in one snapshot, with
// the columns that its version has. Numbers come as texts, so that none is rounded.
import { DatabaseSync } from 'node:sqlite';
import { isPostgresUrl } from './database.ts';
import { DatabaseUnusable } from './database-error.ts';
import { explainPostgresError } from './postgres/error.ts';

/** Numbers are texts; lists and objects of PostgreSQL are read, those of SQLite are JSON texts. */
export type ForeignRow = Readonly<Record<string, unknown>>;

export type ForeignDatabase = {
  /** Returns no rows for a table that is not there. */
  readonly rows: (table: string) => Promise<readonly ForeignRow[]>;
  readonly has: (table: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

/** More than the largest gateways have users or keys. */
const rowsMax = 1_000_000;

/**
 * Opens `postgres://…`, `sqlite:FILE` or the path of a SQLite file. Throws DatabaseUnusable for
 * anything else.
 */
export async function openForeign(url: string): Promise<ForeignDatabase> {
  if (isPostgresUrl(url)) return openPostgres(url);
  if (/^mysql:|@tcp\(/.test(url))
    throw new DatabaseUnusable(
      'MySQL cannot be read. Copy its tables into a PostgreSQL database first, with "pgloader mysql://… postgresql://…", or into a SQLite file, and give that one.',
    );
  return openSqlite(url.replace(/^sqlite:/, ''));
}

/** JSON with its numbers as texts, in their exact digits. */
export function readExactJson(text: string): unknown {
  const reviver = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(text, reviver);
}

function openSqlite(path: string): ForeignDatabase {
  const connection = openFile(path);
  const has = (table: string) =>
    connection
      .prepare(`select 1 from sqlite_master where type = 'table' and name = ?`)
      .get(table) !== undefined;
  connection.exec('begin');
  return {
    has: async (table) => has(table),
    rows: async (table) => {
      if (!has(table)) return [];
      const statement = connection.prepare(`select * from ${quote(table)} limit ${rowsMax + 1}`);
      statement.setReadBigInts(true);
      const rows = statement.all() as Record<string, unknown>[];
      const exact = (value: unknown) =>
        typeof value === 'bigint' || typeof value === 'number' ? String(value) : value;
      return bounded(table, rows).map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, exact(value)])),
      );
    },
    close: async () => connection.close(),
  };
}

function openFile(path: string): DatabaseSync {
  try {
    const connection = new DatabaseSync(path, { readOnly: true });
    connection.prepare('select 1 from sqlite_master').get();
    return connection;
  } catch (error) {
    throw new DatabaseUnusable(
      `The database ${path} cannot be read: ${(error as Error).message}. Name a SQLite file, or a database as postgres://user:password@host/database.`,
      { cause: error },
    );
  }
}

async function openPostgres(url: string): Promise<ForeignDatabase> {
  if (!URL.canParse(url))
    throw new DatabaseUnusable(
      'What was given is no address. Write it as postgres://user:password@host:port/database.',
    );
  const { connectPool } = await import('./postgres/pool.ts');
  const pool = connectPool(url, { max: 1, isReadOnly: true, statementTimeoutMs: 0 });
  // Prisma's URLs name the schema.
  const schema = new URL(url).searchParams.get('schema') ?? 'public';
  const nameOf = (table: string) => `${quote(schema)}.${quote(table)}`;
  try {
    const client = await pool.connect();
    await client.query('set idle_in_transaction_session_timeout = 0');
    await client.query('begin isolation level repeatable read, read only');
    const has = async (table: string) => {
      const { rows } = await client.query<{ is: boolean }>(
        'select to_regclass($1) is not null as is',
        [nameOf(table)],
      );
      return rows[0]!.is;
    };
    return {
      has,
      rows: async (table) => {
        if (!(await has(table))) return [];
        const { rows } = await client.query<{ row: string }>(
          `select to_jsonb(t)::text as row from ${nameOf(table)} t limit ${rowsMax + 1}`,
        );
        return bounded(table, rows).map(({ row }) => readExactJson(row) as ForeignRow);
      },
      close: async () => {
        client.release(true);
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw explainPostgresError(error, url);
  }
}

function bounded<Row>(table: string, rows: readonly Row[]): readonly Row[] {
  if (rows.length <= rowsMax) return rows;
  throw new DatabaseUnusable(
    `The table ${table} has more than ${rowsMax} rows, which is more than one import takes. Remove old rows from a copy of it.`,
  );
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
