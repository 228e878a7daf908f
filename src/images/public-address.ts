// Which IP addresses are anyone's: what a gateway may connect to on a stranger's word. Everything else is a way into its own network.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by their range, yet answered inside a cloud only: Azure's host. https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16 */
const cloudAddresses: readonly string[] = ['168.63.129.16'];

/** All that is given out of IPv6 for public use so far; `::/96`, site-local and whatever comes later are outside. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Takes an address as a resolver writes it; any other spelling, and one with a zone, is not public. Ranges are those of IANA's
 * special-purpose registries. What carries an IPv4 address inside (mapped, NAT64, 6to4, Teredo, ISATAP) is refused whole: a gateway that
 * needs such a way has an IPv4 one too.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || cloudAddresses.includes(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv4) return true;
  return parsed.match(globalUnicast[0], globalUnicast[1]) && !isIsatap(parsed);
}

/** `…:0:5efe:a.b.c.d`, with or without the bit of a global identifier. https://www.rfc-editor.org/rfc/rfc5214#section-6.1 */
function isIsatap({ parts }: { readonly parts: readonly number[] }): boolean {
  return (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe;
}
