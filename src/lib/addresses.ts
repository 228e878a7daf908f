// IP addresses: CIDR ranges, lists of ranges, and the group that counts as one client. An
// IPv4-mapped IPv6 address (`::ffff:192.0.2.1`, as dual-stack sockets report it) is treated as IPv4
// everywhere.
import { BlockList, isIP } from 'node:net';

export type AddressList = {
  /** False for text that is not an address; a proxy may report such text. */
  readonly includes: (address: string) => boolean;
};

type Family = 'ipv4' | 'ipv6';
type AddressRange = { readonly address: string; readonly prefix: number; readonly family: Family };

const bits = { ipv4: 32, ipv6: 128 } as const;
const mappedPrefix = 96;

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
    list.addSubnet(range.address, range.prefix, range.family);
  }
  return {
    includes(address) {
      const plain = plainAddress(address);
      return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
    },
  };
}

/**
 * Returns the group that counts as one client: the IPv4 address, or the /64 of an IPv6 address,
 * because one subscriber controls a whole /64. Text that is not an address is its own group.
 */
export function clientGroupOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain.slice(0, 64);
  const network = hextetsOf(plain).slice(0, 4);
  return `${network.map((hextet) => hextet.toString(16)).join(':')}::/64`;
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

function parseRange(text: string): AddressRange | null {
  const match = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(text);
  const written = match?.[1] ?? '';
  if (isIP(written) === 0) return null;
  const bitsWritten = bits[familyOf(written)];
  const prefix = match?.[2] === undefined ? bitsWritten : Number(match[2]);
  if (prefix > bitsWritten) return null;
  const address = plainAddress(written);
  if (familyOf(address) === familyOf(written))
    return { address, prefix, family: familyOf(written) };
  return prefix < mappedPrefix ? null : { address, prefix: prefix - mappedPrefix, family: 'ipv4' };
}

/** Removes an IPv6 zone (`fe80::1%eth0`) and turns a mapped address into plain IPv4. */
function plainAddress(address: string): string {
  const zone = address.indexOf('%');
  const bare = zone === -1 ? address : address.slice(0, zone);
  if (isIP(bare) !== 6) return bare;
  const hextets = hextetsOf(bare);
  const isMapped = hextets.slice(0, 5).every((hextet) => hextet === 0) && hextets[5] === 0xffff;
  return isMapped
    ? hextets
        .slice(6)
        .flatMap((hextet) => [hextet >> 8, hextet & 0xff])
        .join('.')
    : bare;
}

/** Returns the eight groups of an IPv6 address, with `::` expanded. */
function hextetsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function familyOf(address: string): Family {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
