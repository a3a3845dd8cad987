import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '#webhooks/delivery/public-address.ts';

/** Resolves a name to its addresses. Rejects if it has none. */
type Resolve = (hostname: string) => Promise<readonly string[]>;

/** An endpoint led to an address that is not public. Nothing was sent. */
export class BlockedAddress extends Error {
  constructor() {
    super('The endpoint leads to an address that is not public.');
  }
}

/**
 * Decides which addresses the service may send to (WH-02). It protects against server-side request forgery: an owner
 * chooses the endpoint, but the request comes from inside our network. Everything that a person can set as an address
 * goes through this guard.
 */
export interface EndpointGuard {
  /**
   * Says what is wrong with an endpoint, in words for its owner; undefined if it may be saved. A name that does not resolve
   * passes: its DNS record may be made later, and every connection checks again.
   */
  readonly refuse: (text: string) => Promise<string | undefined>;
  /** Whether a connection to this address may be used. */
  readonly mayDial: (address: string) => boolean;
  /** Throws `BlockedAddress` for a literal address that is not public, and for plain HTTP. `lookup` checks names. */
  readonly checkLiteral: (url: URL) => void;
  /**
   * Resolves the name for the connection itself. The address that is checked is then the address that is dialled; a check
   * before the dial could be answered with another address than the dial (DNS rebinding). One address that is not public
   * blocks the name, because the connection may pick any of them.
   */
  readonly lookup: LookupFunction;
}

interface GuardOptions {
  /** Allows HTTP, private addresses and single-label names, for development. Credentials are never allowed. */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
}

/** Names that only mean something inside a network. No public resolver should know them, but a private one might. */
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
      // An endpoint may have been saved while the service ran in development mode.
      if (!allowPrivate && url.protocol !== 'https:') throw new BlockedAddress();
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
/** People who try an app on their own machine get here first. */
const USE_LISTEN = '. For a server on your own machine, use `purser listen` and no endpoint';

/**
 * Judges the parsed address, not the typed text. The parser has already turned `0x7f.1`, percent-encoding and full-width
 * letters into plain hosts.
 */
function faultOf(url: URL, text: string, allowPrivate: boolean): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must have no credentials in it';
  if (url.hash !== '' || text.includes('#')) return 'must have no fragment';
  if (allowPrivate) return url.protocol === 'https:' || url.protocol === 'http:' ? undefined : 'must be https or http';
  if (url.protocol !== 'https:') return `must be https${USE_LISTEN}`;
  if (literalOf(url) !== undefined) return undefined;
  const name = url.hostname.replace(/\.+$/, ''); // `localhost.` is the same name as `localhost`.
  return name.includes('.') && !LOCAL_NAMES.test(name) ? undefined : NOT_PUBLIC + USE_LISTEN;
}

/** The IP address in the URL's host, without brackets. Undefined if the host is a name. */
export function literalOf(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/** Makes `localhost` and its subdomains mean this machine, for development. Name servers do not know them. */
async function resolveHere(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? ['127.0.0.1'] : resolve(hostname);
}

/**
 * Asks name servers directly, over sockets of its own. `dns.lookup` uses the process's four worker threads, so a few slow
 * names would block every other file and DNS operation. One resolver failing for IPv4 or IPv6 alone is no failure.
 */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS_MAX, tries: 1 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length === 0) throw new Error('The name has no address.');
  return found;
}
