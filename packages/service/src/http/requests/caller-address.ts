import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Log } from '#kernel/log.ts';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The groups of an IPv6 address that name its network. A caller with one address of a network can use all of them. */
const NETWORK_GROUPS = 4;

/** Returns an address of the caller of a request. */
export type CallerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Creates the function that finds the address by which limits count a caller: an IPv6 address counts by its /64 network.
 * See `createExactAddress`.
 */
export function createCallerAddress(proxyHops: number, log: Log): CallerAddress {
  const exactAddressOf = createExactAddress(proxyHops, log);
  return (request) => {
    const address = exactAddressOf(request);
    return isIP(address) === 6 ? networkOf(address) : address;
  };
}

/**
 * Creates the function that finds a caller's address, as an API key is bound to it (CP-08). `proxyHops` is the number of the operator's own proxies in front of
 * the service. Each of them appends the address that called it to `x-forwarded-for`, so only that many entries, counted
 * from the right, can be trusted: a caller can invent everything further left.
 */
export function createExactAddress(proxyHops: number, log: Log): CallerAddress {
  let isTold = false;
  return ({ headers, socket }) => {
    const named = headers['x-forwarded-for'];
    if (named !== undefined && proxyHops === 0 && !isTold) {
      isTold = true;
      log.warn(
        'a request came through a proxy: set PURSER_PROXY_HOPS, or all callers share one address and its limits',
      );
    }
    const forwarded = proxyHops === 0 ? undefined : String(named).split(',').at(-proxyHops)?.trim();
    const address = forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : (socket.remoteAddress ?? '');
    return MAPPED.exec(address)?.[1] ?? address;
  };
}

/** Turns `2001:db8::1` into `2001:db8:0:0`, so that all spellings of a network are the same text. */
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
