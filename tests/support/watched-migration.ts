// Runs a migration on PostgreSQL and tells what would stop a gateway that works meanwhile: a table
// locked against writing while rows are read or written, and many rows changed in one transaction,
// which locks each of them. Both take minutes with ten million rows; adding an empty column does not.
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  PostgresDriver,
} from 'kysely';
import { Client, Pool } from 'pg';
import type { DatabaseMigration } from '../../src/db/migrations/list.ts';

/** Rows in each large table. */
const rows = 20_000;
/** More rows than a migration reads or changes for another reason than the size of a table. */
const rowsMax = 5_000;

const numbered = (name: string) => `'${name}' || n`;

const ledger = `'a' || n || ':live'`;

const fillings = [
  `insert into accounts (id, name, created_at_ms) select ${numbered('a')}, 'A', n from series`,
  `insert into ledgers (id, account_id, mode) select ${ledger}, ${numbered('a')}, 'live' from series`,
  `insert into api_keys (id, account_id, mode, name, digest, hint, created_at_ms)
    select ${numbered('k')}, ${numbered('a')}, 'live', 'K', ${numbered('d')}, 'h', n from series`,
  `insert into entries (id, kind, ledger_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, created_at_ms)
    select ${numbered('e')}, 'credit', ${ledger}, 1, 0, 0, 1, n from series`,
  `insert into charges (id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens, cache_read_tokens,
      cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, usage_source, price_version,
      upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, created_at_ms)
    select ${numbered('e')}, ${ledger}, ${numbered('k')}, 'm', 'M', 'chat', 'p', 1, 0, 0, 0, 1, 0, 'upstream', '0', 1, 'complete', 0, 1, 0, 1, n
    from series`,
  `insert into audit_log (id, actor_kind, actor_id, actor_name, action, subject, created_at_ms)
    select ${numbered('u')}, 'command', 'c', 'C', 'key.create', ${numbered('k')}, n from series`,
];

/** Fills the tables that grow with use. Needs a superuser. */
export async function fillLargeTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set session_replication_role = replica`);
    for (const filling of fillings)
      await client.query(
        filling.replace('from series', `from generate_series(1, ${rows}) as series (n)`),
      );
    await client.query('analyze');
  } finally {
    await client.end();
  }
}

/** Runs the migration. Returns what it did wrong. */
export async function watchMigration(
  url: string,
  migration: DatabaseMigration,
): Promise<readonly string[]> {
  // Workers of a parallel plan would count their rows elsewhere.
  const options = '-c max_parallel_workers_per_gather=0 -c max_parallel_maintenance_workers=0';
  const pool = new Pool({ connectionString: url, options, max: 2 });
  const problems = new Set<string>();
  const tables = await pool.query<{ oid: string }>(
    `select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  const dialect = new WatchingDialect(pool, {
    problems,
    tables: tables.rows.map(({ oid }) => Number(oid)),
  });
  const db = new Kysely<unknown>({ dialect });
  try {
    if (migration.outsideTransaction) await db.connection().execute((each) => migration.up(each));
    else await db.transaction().execute((transaction) => migration.up(transaction));
  } finally {
    await db.destroy();
  }
  return [...problems];
}

type Notes = { readonly problems: Set<string>; readonly tables: readonly number[] };

class WatchingDialect extends PostgresDialect {
  readonly #pool: Pool;
  readonly #notes: Notes;

  constructor(pool: Pool, notes: Notes) {
    super({ pool });
    this.#pool = pool;
    this.#notes = notes;
  }

  override createDriver(): PostgresDriver {
    return new WatchingDriver(this.#pool, this.#notes);
  }
}

class WatchingDriver extends PostgresDriver {
  readonly #notes: Notes;
  readonly #watched = new WeakSet<object>();

  constructor(pool: Pool, notes: Notes) {
    super({ pool });
    this.#notes = notes;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    if (!this.#watched.has(connection)) watch(connection, this.#notes);
    this.#watched.add(connection);
    return connection;
  }
}

/** Looks after each statement, before its transaction ends. */
function watch(connection: DatabaseConnection, { problems, tables }: Notes): void {
  const run = connection.executeQuery.bind(connection);
  const runText = (statement: string) => run(CompiledQuery.raw(statement));
  let isInTransaction = false;
  connection.executeQuery = async <Row>(query: CompiledQuery) => {
    const text = query.sql.trim().toLowerCase();
    if (/^(begin|start transaction)/.test(text)) isInTransaction = true;
    if (/^(commit|rollback)$/.test(text)) isInTransaction = false;
    const isAlone = !isInTransaction && !/^(commit|rollback)$|\bconcurrently\b|^vacuum/.test(text);
    if (!isInTransaction && !isAlone) return run<Row>(query);
    // Else the server adds the rows of transactions within the last second.
    if (isAlone) {
      await runText('select pg_stat_force_next_flush()');
      await runText('begin');
    }
    const result = await run<Row>(query);
    const seen = await run<Seen>(look(tables));
    for (const problem of problemsOf(seen.rows[0]!, query.sql)) problems.add(problem);
    if (isAlone) await runText('commit');
    return result;
  };
}

type Seen = { readonly locked: string | null; readonly used: number; readonly changed: number };

/** Of the connection's transaction: the tables locked against writing, and its rows so far. */
const look = (tables: readonly number[]) =>
  CompiledQuery.raw(
    `select
      (select string_agg(distinct relname, ', ') from pg_locks join pg_class on pg_class.oid = relation
        where pid = pg_backend_pid() and granted and relation = any($1::oid[])
          and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')) as locked,
      (select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::float8
        from pg_stat_xact_user_tables) as used,
      (select sum(n_tup_upd + n_tup_del)::float8 from pg_stat_xact_user_tables where relid = any($1::oid[])) as changed`,
    [tables],
  );

function problemsOf({ locked, used, changed }: Seen, statement: string): string[] {
  return [
    ...(locked !== null && used > rowsMax
      ? [`holds ${locked} locked while it works on all rows: ${statement}`]
      : []),
    ...(changed > rowsMax ? [`changes all rows in one transaction: ${statement}`] : []),
  ];
}
