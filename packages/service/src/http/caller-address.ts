import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Log } from '#kernel/log.ts';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Of an IPv6 address, what names its network: who has one address of it has all. */
const NETWORK_GROUPS = 4;

/** Where a request comes from, for what is slowed by address. */
export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * The address that a request comes from. `proxyHops`: how many proxies of the operator's stand in front of the service,
 * each of which adds the address that it was called from to `x-forwarded-for`. What stands further left in it is what a
 * caller made up. IPv6 by its network of 64 bits.
 */
export function createCallerAddress(proxyHops: number, log: Log): CallerAddress {
  let isTold = false;
  return ({ headers, socket }) => {
    const named = headers['x-forwarded-for'];
    if (named !== undefined && proxyHops === 0 && !isTold) {
      isTold = true;
      log.warn('a request came through a proxy: set PURSER_PROXY_HOPS, or all callers count as one address');
    }
    const forwarded = proxyHops === 0 ? undefined : String(named).split(',').at(-proxyHops)?.trim();
    const address = forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : (socket.remoteAddress ?? '');
    const plain = MAPPED.exec(address)?.[1] ?? address;
    return isIP(plain) === 6 ? networkOf(plain) : plain;
  };
}

/** `2001:db8::1` as `2001:db8:0:0`. */
function networkOf(address: string): string {
  const [left = '', right = ''] = address.toLowerCase().split('::');
  const before = left.split(':').filter((group) => group !== '');
  const after = right.split(':').filter((group) => group !== '');
  const zeros = address.includes('::') ? Math.max(0, 8 - before.length - after.length) : 0;
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
