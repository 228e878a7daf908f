// Connects to checked addresses. Names were resolved earlier (resolve-name.ts) and are not resolved
// again, so DNS rebinding gains nothing. TLS still asks for the name and verifies it.
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from './undici.ts';

export type OpenConnector = (addresses: readonly string[]) => buildConnector.connector;

const connectMs = 5_000;

/** Tries IPv4 and IPv6 addresses in turn, as browsers do. */
export const checkedConnector: OpenConnector = (addresses) => {
  const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  };
  return buildConnector({
    lookup,
    timeout: connectMs,
    autoSelectFamily: true,
    allowH2: false,
    maxCachedSessions: 0,
  });
};
