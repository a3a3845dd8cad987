import { channel } from 'node:diagnostics_channel';
import { type Origin, outage, type RequestBytes } from '#providers/http/connection.ts';
import { Deadlines } from '#providers/http/deadlines.ts';
import { type OpenAnswer, OpenExchange, type OpenLimits } from '#providers/http/open-exchange.ts';
import { Pool } from '#providers/http/pool.ts';
import { type WholeAnswer, WholeExchange, type WholeLimits } from '#providers/http/whole-exchange.ts';

/** Tells tests, and whoever else listens in this process, of each request: its `url`. */
const SENT = channel('purser.upstream.request');

/** One address of a provider. Each call is one POST, never sent again, whose errors are `UpstreamError`. */
export interface Endpoint {
  /** Resolves when all of the answer is there. */
  readonly whole: (body: string, limits: WholeLimits) => Promise<WholeAnswer>;
  /** Resolves with the head of the answer. Aborting the signal ends the request. */
  readonly open: (body: string, limits: OpenLimits) => Promise<OpenAnswer>;
}

export interface UpstreamHttp {
  /** Where requests go to, and the headers that each of them has. What cannot be a header makes each call fail. */
  readonly endpoint: (url: URL, headers: Readonly<Record<string, string>>) => Endpoint;
  /** Breaks off what is under way. */
  readonly close: () => void;
}

/** HTTP to providers with kept connections. Redirects are not followed: a 3xx is an answer like any other. */
export function createUpstreamHttp(): UpstreamHttp {
  const deadlines = new Deadlines();
  const pools = new Map<string, Pool>();
  let isClosed = false;

  function poolOf({ origin, protocol, hostname, port }: URL): Pool {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const isTls = protocol === 'https:';
    // An address of IPv6 has brackets in a URL, and nowhere else.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const target: Origin = { isTls, host, port: port === '' ? (isTls ? 443 : 80) : Number(port) };
    const pool = new Pool(target, deadlines);
    pools.set(origin, pool);
    return pool;
  }

  return {
    endpoint: (url, headers) => {
      const head = headOf(url, headers);
      const pool = poolOf(url);
      function send<E extends WholeExchange | OpenExchange>(exchange: E): E {
        if (exchange.isOver) return exchange;
        if (isClosed || head === undefined) {
          exchange.onError(outage('The call cannot be sent.'));
        } else {
          if (SENT.hasSubscribers) SENT.publish({ url: url.href });
          pool.send(exchange);
        }
        return exchange;
      }
      return {
        whole: (body, limits) => send(new WholeExchange(requestOf(head, body), deadlines, limits)).answer,
        open: (body, limits) => send(new OpenExchange(requestOf(head, body), deadlines, limits)).answer,
      };
    },
    close: () => {
      isClosed = true;
      for (const pool of pools.values()) pool.close(outage('The service stops.'));
    },
  };
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** The request up to its length; undefined where a header could be taken for something else. */
function headOf({ host, pathname, search }: URL, headers: Readonly<Record<string, string>>): string | undefined {
  const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, 'connection: keep-alive'];
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    lines.push(`${name}: ${value}`);
  }
  return `${lines.join('\r\n')}\r\ncontent-length: `;
}

/** Head and body as one text, so that they leave in one write. */
function requestOf(head: string | undefined, body: string): RequestBytes {
  const length = Buffer.byteLength(body);
  // Text of one byte a character is written as it lies in memory.
  return { bytes: `${head}${length}\r\n\r\n${body}`, encoding: length === body.length ? 'latin1' : 'utf8' };
}
