// The addresses that accounts may export to: OTLP over HTTPS on the public internet, or a host that
// the operator allowed.
import { type PublicHosts, publicHosts } from '../../../lib/public-hosts.ts';
import type { Resolve } from '../../../lib/resolve-name.ts';
import { withoutTrailing } from '../../../lib/without-trailing.ts';

const charactersMax = 2_000;
const ports = ['443', '4318'];

export function receiverHosts(allowedHosts: readonly string[], resolve?: Resolve): PublicHosts {
  return publicHosts({ allowedHosts, ports, ...(resolve && { resolve }) });
}

/** Returns null, or a sentence that says what is wrong with an address and what to do. */
export function addressProblem(text: string, hosts: PublicHosts): string | null {
  const url = text.length > charactersMax ? null : URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol) || !url.hostname)
    return 'is no address. Give one of OTLP over HTTP, such as https://otlp.example.com.';
  if (url.username || url.password)
    return 'must not contain a user name or password. Send them in a header.';
  if (url.search || url.hash) return 'must end with its path: leave out the `?` or `#`.';
  if (hosts.isAllowed(url)) return null;
  if (url.protocol !== 'https:') return 'must begin with https://.';
  switch (hosts.problemOf(url)) {
    case 'wrong-port':
      return `must use port ${ports.join(' or ')}. OTLP over gRPC is not supported.`;
    case 'not-public':
      return 'must lead to a public address.';
    case null:
      return null;
  }
}

/** Returns where spans are posted. An address that names their path already is taken as it is. */
export function tracesUrlOf(endpoint: string): URL {
  const base = withoutTrailing(endpoint, '/');
  return new URL(base.endsWith('/v1/traces') ? base : `${base}/v1/traces`);
}
