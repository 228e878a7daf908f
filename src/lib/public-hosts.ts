// Finds where a client's URL may lead: every address of its host must be public, unless the operator
// allowed the host. The connection then goes to one of these addresses (checked-connector.ts), so
// another answer of the name server gains nothing.
import { untilAborted } from './until-aborted.ts';
import { createResolve, type Resolve } from './resolve-name.ts';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type HostAddresses =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** The host is not public, or has no address. */
  | { readonly kind: 'not-public' }
  | { readonly kind: 'wrong-port' };

export type FindAddresses = (url: URL, signal: AbortSignal) => Promise<HostAddresses>;

type PublicHostsOptions = {
  /** Exact `host` or `host:port`. These may be inside the operator's own network. */
  readonly allowedHosts: readonly string[];
  /** Ports of other hosts. */
  readonly ports: readonly string[];
  readonly resolve?: Resolve;
};

export type PublicHosts = {
  /** True for a host that the operator allowed. */
  readonly isAllowed: (url: URL) => boolean;
  /** Checks what can be known before a name is resolved; null: nothing is wrong. */
  readonly problemOf: (url: URL) => 'wrong-port' | 'not-public' | null;
  readonly find: FindAddresses;
};

export function publicHosts({
  allowedHosts,
  ports,
  resolve = createResolve(),
}: PublicHostsOptions): PublicHosts {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isAllowed = (url: URL) =>
    allowed.has(url.host) || allowed.has(`${url.hostname}:${portOf(url)}`);
  const problemOf: PublicHosts['problemOf'] = (url) => {
    if (isAllowed(url)) return null;
    if (!ports.includes(portOf(url))) return 'wrong-port';
    const address = addressIn(url.hostname);
    return address === null || isPublicAddress(address) ? null : 'not-public';
  };
  return {
    isAllowed,
    problemOf,
    async find(url, signal) {
      const problem = problemOf(url);
      if (problem !== null) return { kind: problem };
      const isTrusted = isAllowed(url);
      const address = addressIn(url.hostname);
      // A resolver may hang, so an abort stops the wait. A name that it cannot resolve has no address.
      const find = () => resolve(url.hostname, { isAllowed: isTrusted, signal }).catch(() => []);
      const addresses = address === null ? await untilAborted(find(), signal) : [address];
      const isUsable = addresses.length > 0 && (isTrusted || addresses.every(isPublicAddress));
      return isUsable ? { kind: 'found', addresses } : { kind: 'not-public' };
    },
  };
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/**
 * Returns the address in a host name, or null for a name. After parsing, a URL's host is one or the
 * other.
 */
function addressIn(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}

// A gateway may connect only to public addresses for a URL from a client; all others could lead into
// its own network.

/**
 * Public by range but reachable only inside a cloud: Azure's host.
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const cloudAddresses: readonly string[] = ['168.63.129.16'];

/**
 * All of IPv6 that is allocated for public use so far. It excludes `::/96`, site-local and future
 * ranges.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Takes an address in a resolver's spelling; other spellings and addresses with a zone are not
 * public. Ranges come from IANA's special-purpose registries. Addresses that embed IPv4 (mapped,
 * NAT64, 6to4, Teredo, ISATAP) are all refused: a gateway that could use one has IPv4 too.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || cloudAddresses.includes(address))
    return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv4) return true;
  return parsed.match(globalUnicast[0], globalUnicast[1]) && !isIsatap(parsed);
}

/**
 * True for an address of a server that only the operator's own network has, by what it shows: it is not
 * public, its name is no public one, or it goes without TLS.
 */
export function isInside({ protocol, hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (protocol === 'http:') return true;
  return isIP(host) === 0
    ? !/\.(?!local$|localhost$|internal$|lan$|svc$|arpa$)[^.]+$/.test(host)
    : !isPublicAddress(host);
}

/**
 * `…:0:5efe:a.b.c.d`, with or without the universal/local bit.
 * https://www.rfc-editor.org/rfc/rfc5214#section-6.1
 */
function isIsatap({ parts }: { readonly parts: readonly number[] }): boolean {
  return (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe;
}
