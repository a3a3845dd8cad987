import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '#webhooks/public-address.ts';

/** Finds the addresses of a name. Rejects where it has none. */
type Resolve = (hostname: string) => Promise<readonly string[]>;

/** An endpoint led to an address that is not public: nothing was sent. */
export class BlockedAddress extends Error {
  constructor() {
    super('The endpoint leads to an address that is not public.');
  }
}

/** Where endpoints may be, and how their names become addresses (WH-02). For every address that a person can set. */
export interface EndpointGuard {
  /** What is wrong with an endpoint, in words for its owner; undefined where nothing is. A name without address passes. */
  readonly refuse: (text: string) => Promise<string | undefined>;
  /** Whether a connection to this address may be used. */
  readonly mayDial: (address: string) => boolean;
  /** Throws `BlockedAddress` for one that is written out and is not public, or not https: names are looked at by `lookup`. */
  readonly checkLiteral: (url: URL) => void;
  /** For the connection itself, so that what is looked at is what is dialled. One bad address among many blocks a name. */
  readonly lookup: LookupFunction;
}

interface GuardOptions {
  /** Development: http, private and single-label endpoints are let through, credentials never. */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
}

const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa|invalid|test|onion)$/;
const ADDRESSES_MAX = 16;
const RESOLVE_MS_MAX = 1_500;

export function createEndpointGuard({ allowPrivate, resolve = resolveByDns }: GuardOptions): EndpointGuard {
  const mayDial = (address: string): boolean => allowPrivate || isPublicAddress(address);

  async function addressesOf(hostname: string): Promise<readonly string[]> {
    const found = await (allowPrivate ? resolveHere(hostname, resolve) : resolve(hostname));
    if (found.length === 0 || found.length > ADDRESSES_MAX || !found.every(mayDial)) throw new BlockedAddress();
    return found;
  }

  return {
    mayDial,
    refuse: async (text) => {
      const url = URL.parse(text);
      const fault = url === null ? 'must be an address' : faultOf(url, text, allowPrivate);
      if (fault !== undefined || url === null) return fault;
      const literal = literalOf(url);
      if (literal !== undefined) return mayDial(literal) ? undefined : NOT_PUBLIC;
      try {
        await addressesOf(url.hostname);
      } catch (blocked) {
        return blocked instanceof BlockedAddress ? NOT_PUBLIC : undefined;
      }
      return undefined;
    },
    checkLiteral: (url) => {
      if (!allowPrivate && url.protocol !== 'https:') throw new BlockedAddress(); // Saved while that was allowed.
      const literal = literalOf(url);
      if (literal !== undefined && !mayDial(literal)) throw new BlockedAddress();
    },
    lookup: (hostname, options, callback) => {
      addressesOf(hostname).then(
        (found) => {
          const all = found.map((address) => ({ address, family: isIP(address) }));
          const [first] = all;
          if (options.all === true) callback(null, all);
          else callback(null, first?.address ?? '', first?.family);
        },
        (fault: unknown) => callback(fault instanceof Error ? fault : new Error(String(fault)), '', 0),
      );
    },
  };
}

const NOT_PUBLIC = 'leads to an address that is not public';

/** By the address as it was understood, not as it was typed: numbers, encodings and odd letters have become plain by then. */
function faultOf(url: URL, text: string, allowPrivate: boolean): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must have no credentials in it';
  if (url.hash !== '' || text.includes('#')) return 'must have no fragment';
  if (allowPrivate) return url.protocol === 'https:' || url.protocol === 'http:' ? undefined : 'must be https or http';
  if (url.protocol !== 'https:') return 'must be https';
  if (literalOf(url) !== undefined) return undefined;
  const name = url.hostname.replace(/\.+$/, '');
  return name.includes('.') && !LOCAL_NAMES.test(name) ? undefined : NOT_PUBLIC;
}

/** The address that is written out in it. */
export function literalOf(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** In development names such as `localhost` are of this machine, which no name server knows. */
async function resolveHere(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? ['127.0.0.1'] : resolve(hostname);
}

/** By name servers, on sockets of its own: the runtime's usual way has four threads for the whole process. */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS_MAX, tries: 1 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length === 0) throw new Error('The name has no address.');
  return found;
}
