// Explains a failed start to the operator.
import type { Config } from '../config/schema.ts';
import { explainDatabaseError } from '../db/database.ts';
import { CommandFailed } from './output.ts';

/** Ports below this one need a privilege. */
const freePortMin = 1_024;

/** Returns any other error unchanged. */
export function explainStart(
  error: unknown,
  { server, database }: Pick<Config, 'server' | 'database'>,
): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error))
    return explainDatabaseError(error, database.url);
  const { host, port } = server;
  if (error.code === 'EADDRINUSE') {
    return new CommandFailed(
      `port ${port} on ${host} is already in use. Stop the program that listens there, or set PORT to another port.`,
    );
  }
  if (error.code === 'EACCES' && port < freePortMin) {
    return new CommandFailed(
      `cannot listen on port ${port}: this user may not use ports below ${freePortMin}. Set PORT to ${freePortMin} or above, such as 4000, and let a reverse proxy take port ${port}.`,
      { cause: error },
    );
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'EACCES' || error.code === 'ENOTFOUND') {
    return new CommandFailed(
      `cannot listen on ${host}:${port} (${error.code}). Set HOST and PORT to an address of this machine.`,
    );
  }
  return error;
}
