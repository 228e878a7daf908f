// Decides which IP addresses are public. A gateway may connect only to these for a URL from a
// client; all others could lead into its own network.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
 * `…:0:5efe:a.b.c.d`, with or without the universal/local bit.
 * https://www.rfc-editor.org/rfc/rfc5214#section-6.1
 */
function isIsatap({ parts }: { readonly parts: readonly number[] }): boolean {
  return (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe;
}
