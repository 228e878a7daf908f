// PostgreSQL connection pools with Tollgate's settings: integers are exact or refused, statements
// and idle transactions time out, and commits are durable before they are acknowledged. Loaded only
// when PostgreSQL is used.
import { type CustomTypesConfig, Pool, types } from 'pg';
import { SessionClient, type SessionSettings } from './connection.ts';

export type PoolOptions = {
  readonly max: number;
  readonly isReadOnly?: boolean;
  /** 0 means no timeout, for commands that read the whole ledger. */
  readonly statementTimeoutMs: number;
  readonly settings?: SessionSettings;
};

const connectTimeoutMs = 5_000;
/**
 * A transaction with a silent client must not keep rows locked, nor commit later when others assume
 * that it failed.
 */
const idleInTransactionMs = 5_000;
const graceMs = 2_000;
/** Type ids of integers, and of their sums. */
const exactTypes = [20, 1700];

/** Opens a pool. The first connection is made on first use. */
export function connectPool(url: string, options: PoolOptions): Pool {
  const pool = new Pool({
    Client: SessionClient,
    connectionString: withLibpqModes(url),
    max: options.max,
    // Sends statements without waiting for the previous result.
    pipeline: true,
    types: exactIntegers,
    connectionTimeoutMillis: connectTimeoutMs,
    // The server ends a slow statement itself; this ends the wait for a server that disappeared.
    query_timeout:
      options.statementTimeoutMs === 0 ? undefined : options.statementTimeoutMs + graceMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'tollgate',
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for the promise, which its types do not say
    onConnect: (client) => (client as SessionClient).applySettings(settingsOf(options)),
  });
  // A broken connection is reported by the statement that fails. Without these listeners, Node.js
  // would also end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function settingsOf({
  isReadOnly = false,
  statementTimeoutMs,
  settings,
}: PoolOptions): SessionSettings {
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    default_transaction_read_only: isReadOnly ? 'on' : 'off',
    // The usual values, because a role or a database may have others.
    default_transaction_isolation: 'read committed',
    lock_timeout: 0,
    datestyle: 'ISO',
    ...settings,
  };
}

/** Without this, integers beyond 2^53 would be rounded silently. */
const exactIntegers: CustomTypesConfig = {
  getTypeParser: (oid: number, format) =>
    // oxlint-disable-next-line typescript/no-unsafe-return -- parsers return what their type is read as
    exactTypes.includes(oid) && format !== 'binary'
      ? parseInteger
      : types.getTypeParser(oid, format),
};

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the database holds ${text}, which cannot be read as an exact number`);
  return value;
}

/**
 * Gives `sslmode` its libpq meaning: `require` encrypts, `verify-full` also verifies the server.
 * pg's next major version does so by itself. https://www.postgresql.org/docs/current/libpq-ssl.html
 */
function withLibpqModes(url: string): string {
  const parsed = new URL(url);
  const mode = parsed.searchParams.get('sslmode');
  if (mode === null || mode === 'no-verify' || parsed.searchParams.has('uselibpqcompat'))
    return url;
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.href;
}
