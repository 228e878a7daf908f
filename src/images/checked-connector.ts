// The connection to a checked address: names are looked up before (resolve-name.ts) and not again here, so that a name which means
// something else by now leads nowhere. TLS is still asked for the name, and verifies it.
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

export type OpenConnector = (addresses: readonly string[]) => buildConnector.connector;

const connectMs = 5_000;

/** Tries the addresses as browsers do: of both families, in turn. */
export const checkedConnector: OpenConnector = (addresses) => {
  const found: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  };
  return buildConnector({ lookup, timeout: connectMs, autoSelectFamily: true, allowH2: false, maxCachedSessions: 0 });
};
