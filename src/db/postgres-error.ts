// Why PostgreSQL cannot be used, told so that the operator can act on it; and which failures pass by themselves.
import { DatabaseUnusable } from './database-error.ts';

/** Where a URL leads, without its password. */
export type ServerAddress = { readonly server: string; readonly database: string; readonly user: string };

/** The address as messages name it. Example: `{ server: 'db.internal:5432', database: 'tollgate', user: 'gateway' }`. */
export function addressOf(url: string): ServerAddress {
  const { host, hostname, pathname, username, searchParams } = new URL(url);
  const socket = searchParams.get('host') ?? decodeURIComponent(hostname);
  const server = socket.startsWith('/') ? socket : host || 'localhost';
  const user = decodeURIComponent(username) || 'the system user';
  return { server, user, database: decodeURIComponent(pathname.slice(1)) || user };
}

/** The SQLSTATE, or Node's code, of an error. https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Whether a server could not be asked, or has broken off: the same question may be answered in a moment. */
export function isServerAway(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  const hasNoSocket = codeOf(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';
  return (
    hasNoSocket ||
    awayCodes.test(codeOf(error)) ||
    /^Connection terminated|not queryable|timeout exceeded when trying to connect/.test(message)
  );
}

/** The classes 08 (connection), 53 (resources) and 57P (the operator intervened), a server that is read-only, and what Node says of a socket. */
const awayCodes = /^(?:08...|25006|53...|57P..|E(?:CONN\w+|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE))$/;

/** An error of connecting or migrating in words for the operator; one that is none of those stays as it is. */
export function explainPostgresError(error: unknown, url: string): unknown {
  const { server, database, user } = addressOf(url);
  const told = tellReason(codeOf(error), { server, database, user }) ?? tellWithoutCode(error, server);
  return told === null ? error : new DatabaseUnusable(told, { cause: error });
}

function tellReason(code: string, { server, database, user }: ServerAddress): string | null {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENOENT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
      return `PostgreSQL cannot be reached at ${server} (${code}). Check the host and port in database.url, and that it runs and accepts connections from this machine.`;
    case '28P01':
    case '28000':
      return `PostgreSQL at ${server} refused the user ${user}. Check the user and password in database.url, and the server's pg_hba.conf.`;
    case '3D000':
      return `PostgreSQL at ${server} has no database ${database}. Make it with "createdb ${database}", or correct the name in database.url.`;
    case '42501':
      return `The user ${user} may not make tables in the database ${database}. Grant it: "grant create, usage on schema public to ${user}".`;
    case '57P03':
      return `PostgreSQL at ${server} is starting up or shutting down. Try again in a moment.`;
    case '53300':
      return `PostgreSQL at ${server} has no connection left. Raise its max_connections, or run fewer gateways on it.`;
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of PostgreSQL at ${server} cannot be verified (${code}). Name its authority with sslrootcert=<file> in database.url, or use sslmode=require to encrypt without verifying.`;
    default:
      return null;
  }
}

/** pg gives these no code. */
function tellWithoutCode(error: unknown, server: string): string | null {
  const message = error instanceof Error ? error.message : '';
  if (/timeout/i.test(message))
    return `PostgreSQL at ${server} does not answer in time. Check the host and port in database.url.`;
  if (/does not support SSL/.test(message))
    return `PostgreSQL at ${server} does not offer TLS. Leave sslmode out of database.url.`;
  if (/password must be a string/.test(message))
    return `PostgreSQL at ${server} asks for a password and database.url has none: postgres://user:password@host/database.`;
  if (/Connection terminated/.test(message)) return `PostgreSQL at ${server} closed the connection. Check that it runs.`;
  return null;
}
