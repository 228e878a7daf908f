// PostgreSQL errors in the operator's words, and which of them are transient.
import { DatabaseUnusable } from '../database-error.ts';

/** The server of a URL, without its password. */
type ServerAddress = { readonly server: string; readonly database: string; readonly user: string };

/**
 * Parses a database URL. Example: `{ server: 'db.internal:5432', database: 'tollgate', user:
 * 'gateway' }`.
 */
export function addressOf(url: string): ServerAddress {
  const { host, hostname, pathname, username, searchParams } = new URL(url);
  const socket = searchParams.get('host') ?? decodeURIComponent(hostname);
  const server = socket.startsWith('/') ? socket : host || 'localhost';
  const user = decodeURIComponent(username) || 'the system user';
  return { server, user, database: decodeURIComponent(pathname.slice(1)) || user };
}

/**
 * The SQLSTATE or Node.js code of an error, or ''.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns true when the server was unreachable or dropped the connection: a retry may succeed. */
export function isServerUnavailable(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  const hasNoSocket =
    codeOf(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';
  return (
    hasNoSocket ||
    unavailableCodes.test(codeOf(error)) ||
    /^Connection terminated|not queryable|timeout exceeded when trying to connect/.test(message)
  );
}

/**
 * SQLSTATE classes 08 (connection), 53 (resources) and 57P (operator intervention), a read-only
 * server, and Node.js socket errors.
 */
const unavailableCodes =
  /^(?:08...|25006|53...|57P..|E(?:CONN\w+|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE))$/;

/**
 * Returns an error of connecting or migrating in the operator's words; any other error is returned
 * unchanged.
 */
export function explainPostgresError(error: unknown, url: string): unknown {
  const { server, database, user } = addressOf(url);
  const address = { server, database, user };
  const reason =
    describeReason(codeOf(error), address) ??
    describePooler(error, address) ??
    describeWithoutCode(error, server);
  return reason === null ? error : new DatabaseUnusable(reason, { cause: error });
}

function describeReason(code: string, { server, database, user }: ServerAddress): string | null {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENOENT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
      return `PostgreSQL cannot be reached at ${server} (${code}). Check the host and port in database.url, and that PostgreSQL runs and accepts connections from this machine.`;
    case '28P01':
    case '28000':
      return `PostgreSQL at ${server} refused the user ${user}. Check the user and password in database.url, and the server's pg_hba.conf.`;
    case '3D000':
      return `PostgreSQL at ${server} has no database ${database}. Create it with "createdb ${database}", or correct the name in database.url.`;
    case '42501':
      return `The user ${user} may not create tables in the database ${database}. Run "grant create, usage on schema public to ${user}" as its owner.`;
    case '57P03':
      return `PostgreSQL at ${server} is starting up or shutting down. Try again in a moment.`;
    case '53300':
      return `PostgreSQL at ${server} has no connection left. Raise its max_connections, or run fewer gateways on it.`;
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of PostgreSQL at ${server} cannot be verified (${code}). Set its certificate authority with sslrootcert=<file> in database.url, or use sslmode=require to encrypt without verifying.`;
    default:
      return null;
  }
}

/**
 * Poolers give one code to all their errors.
 * https://github.com/pgbouncer/pgbouncer/blob/pgbouncer_1_18_0/src/client.c
 */
function describePooler(error: unknown, { server, database, user }: ServerAddress): string | null {
  if (codeOf(error) !== '08P01') return null;
  const { message } = error as Error;
  const parameter = /unsupported startup parameter: (\w+)/.exec(message)?.[1];
  if (parameter)
    return `The connection pooler at ${server} refuses ${parameter} in database.url. Remove it there; to keep its effect, run "alter role ${user} set …" in PostgreSQL.`;
  if (/statement pooling/.test(message))
    return `The connection pooler at ${server} is in statement mode, which has no transactions. Set pool_mode = transaction for the database ${database} in pgbouncer.ini.`;
  if (/authentication failed|no such user/.test(message))
    return `The connection pooler at ${server} refused the user ${user}. Check the user and password in database.url, and the pooler's auth_file.`;
  if (/does not exist|no such database/.test(message))
    return `The connection pooler at ${server} has no database ${database}. Check [databases] in pgbouncer.ini, and that PostgreSQL has the database.`;
  return `The connection pooler at ${server} answered "${message}". Check its settings and its log.`;
}

/** Errors to which pg gives no code. */
function describeWithoutCode(error: unknown, server: string): string | null {
  const message = error instanceof Error ? error.message : '';
  if (/timeout/i.test(message))
    return `PostgreSQL at ${server} did not answer in time. Check the host and port in database.url.`;
  if (/does not support SSL/.test(message))
    return `PostgreSQL at ${server} does not offer TLS. Remove sslmode from database.url.`;
  if (/password must be a string/.test(message))
    return `PostgreSQL at ${server} asks for a password and database.url has none: postgres://user:password@host/database.`;
  if (/Connection terminated/.test(message))
    return `PostgreSQL at ${server} closed the connection. Check that it runs.`;
  return null;
}
