// Connections to PostgreSQL the one way that Tollgate uses them: whole numbers that are exact or refused, statements and idle
// transactions that end, commits that are on the disk before they are answered. Loaded only where PostgreSQL is used.
import { type ClientBase, type CustomTypesConfig, Pool, types } from 'pg';

export type PoolOptions = {
  readonly max: number;
  readonly isReadOnly?: boolean;
  /** 0: none, for commands that read all of the books. */
  readonly statementTimeoutMs: number;
  /** Statements are sent without waiting for the answer to the one before. */
  readonly pipeline?: boolean;
  /** Statements of whoever opens the pool, for each new connection. */
  readonly settings?: readonly string[];
};

const connectTimeoutMs = 5_000;
/** A transaction whose client has gone silent must not keep rows locked, nor commit later, when others believe it has failed. */
const idleInTransactionMs = 5_000;
const graceMs = 2_000;
const int8 = 20;

/** Opens a pool; the first connection is made when it is first asked for one. */
export function connectPool(url: string, options: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: withLibpqModes(url),
    max: options.max,
    pipeline: options.pipeline,
    types: exactIntegers,
    connectionTimeoutMillis: connectTimeoutMs,
    // The server ends a statement itself; this ends the wait for a server that has gone without a word.
    query_timeout: options.statementTimeoutMs === 0 ? undefined : options.statementTimeoutMs + graceMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'tollgate',
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for the promise, which its types do not say
    onConnect: (client) => configure(client, options),
  });
  // A connection that breaks tells its user through the statement that fails; without these, Node would end the process as well.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

async function configure(
  client: ClientBase,
  { isReadOnly = false, statementTimeoutMs, settings = [] }: PoolOptions,
): Promise<void> {
  await client.query(
    [
      `set statement_timeout = ${statementTimeoutMs}`,
      `set idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
      `set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
      `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
      ...settings,
    ].join('; '),
  );
}

/** Microdollars beyond 2^53 would be rounded without a word. */
const exactIntegers: CustomTypesConfig = {
  getTypeParser: (oid: number, format) =>
    // oxlint-disable-next-line typescript/no-unsafe-return -- parsers return what their type is read as
    oid === int8 && format !== 'binary' ? parseInteger : types.getTypeParser(oid, format),
};

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the database holds ${text}, which is no number that can be read exactly`);
  return value;
}

/**
 * `sslmode` as every other tool of PostgreSQL reads it: `require` encrypts, `verify-full` also checks who answers. pg's next major version
 * does so by itself. https://www.postgresql.org/docs/current/libpq-ssl.html
 */
function withLibpqModes(url: string): string {
  const parsed = new URL(url);
  const mode = parsed.searchParams.get('sslmode');
  if (mode === null || mode === 'no-verify' || parsed.searchParams.has('uselibpqcompat')) return url;
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.href;
}
