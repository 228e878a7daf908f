// IP addresses: CIDR ranges, lists of ranges, and the group that counts as one client. An
// IPv4-mapped IPv6 address (`::ffff:192.0.2.1`, as dual-stack sockets report it) is treated as IPv4
// everywhere.
import { BlockList, isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressList = {
  /** False for text that is not an address; a proxy may report such text. */
  readonly includes: (address: string) => boolean;
};

/**
 * Returns true for an address or a range in CIDR notation: `192.0.2.7`, `192.0.2.0/24`,
 * `2001:db8::/32`.
 */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

/** Builds a list from texts that `isAddressRange` accepts. Throws RangeError on any other text. */
export function createAddressList(ranges: readonly string[]): AddressList {
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseRange(text);
    if (!range) throw new RangeError(`not an address range: ${text}`);
    list.addSubnet(range.ip.toString(), range.prefix, range.ip.kind());
  }
  return {
    includes(address) {
      if (isIPv4(address)) return list.check(address);
      const ip = parse(address);
      return ip !== null && list.check(ip.toString(), ip.kind());
    },
  };
}

/**
 * Returns the group that counts as one client: the IPv4 address, or the /64 of an IPv6 address,
 * because one subscriber controls a whole /64. Text that is not an address is its own group.
 */
export function clientGroupOf(address: string): string {
  if (isIPv4(address)) return address;
  const ip = parse(address);
  if (!(ip instanceof ipaddr.IPv6)) return (ip?.toString() ?? address).slice(0, 64);
  const network = ip.parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}

/**
 * Removes ports and brackets from the addresses in an `X-Forwarded-For`: `192.0.2.7:5432`,
 * `[2001:db8::1]:443`. Other text stays as it is.
 */
export function withoutPorts(forwardedFor: string): string {
  return forwardedFor.replaceAll(
    /(?<![^\s,])(?:(\d+\.\d+\.\d+\.\d+)|\[([\dA-Fa-f:.]+)\])(?::\d{1,5})?(?![^\s,])/g,
    '$1$2',
  );
}

function parseRange(text: string) {
  const [, written = '', size] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const ip = parse(written);
  if (!ip) return null;
  const bits = ip.toByteArray().length * 8;
  const bitsWritten = isIP(written) === 6 ? 128 : 32;
  const prefix = size === undefined ? bits : Number(size) - (bitsWritten - bits);
  return prefix >= 0 && prefix <= bits ? { ip, prefix } : null;
}

/**
 * Null for other text. Without its zone (`fe80::1%eth0`); a mapped address is plain IPv4. It takes 6 µs,
 * so what is checked with every request, mostly IPv4, goes without it.
 */
function parse(address: string) {
  const bare = address.replace(/%.*/s, '');
  // `::192.0.2.1` is not a mapped address, but the library makes it one.
  return isIP(bare) === 0 ? null : ipaddr.process(bare.replace(/^::(?=\d+\.)/, '0::'));
}
