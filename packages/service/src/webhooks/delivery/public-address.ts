import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * IPv4 ranges that no public endpoint can have: the special-purpose registry (RFC 6890 and what IANA has added since) and
 * multicast. They are listed by range, because a range that is missing here is a way into our network.
 */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Public IPv6 addresses are all in 2000::/3, except these. 6to4 and Teredo carry an IPv4 address that may be anything. */
const SPECIAL_V6 = [
  '2001::/23', // Protocol assignments: Teredo, benchmarking, ORCHID and others.
  '2001:db8::/32',
  '2002::/16', // 6to4.
  '2620:4f:8000::/48',
  '3fff::/20',
];
const GLOBAL_V6 = '2000::/3';
/** IPv6 forms of an IPv4 address. The system dials the IPv4 address, so that one is checked. */
const EMBEDDING_V6 = /^(?:::ffff:|64:ff9b::)(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

const specialV4 = listOf(SPECIAL_V4, 'ipv4');
const specialV6 = listOf(SPECIAL_V6, 'ipv6');
const globalV6 = listOf([GLOBAL_V6], 'ipv6');

/**
 * Returns true if the address is reachable on the public Internet (WH-02). It returns false also for text that is not
 * an address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialV4.check(address, 'ipv4');
  if (isIP(address) !== 6 || address.includes('%')) return false; // A zone only has a meaning on this machine.
  const embedded = embeddedV4(address);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
}

/** The IPv4 address inside an IPv6 one. The URL parser brings every spelling into the form that the pattern knows. */
function embeddedV4(address: string): string | undefined {
  const normal = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? '';
  const [, dotted, high, low] = EMBEDDING_V6.exec(normal) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return undefined;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((part) => [part >> 8, part & 255]).join('.');
}

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
