import { channel } from 'node:diagnostics_channel';
import { BufferedExchange, type BufferedLimits, type BufferedResponse } from './buffered-response.ts';
import type { Origin, RequestBytes } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { LargeBodies } from './large-bodies.ts';
import { Pool } from './pool.ts';
import { type FindProxy, withoutBrackets } from './proxies.ts';
import { RequestError } from './request-error.ts';
import { StreamedExchange, type StreamedLimits, type StreamedResponse } from './streamed-response.ts';

export { RequestError, type RequestErrorKind } from './request-error.ts';
export type { BufferedResponse } from './buffered-response.ts';
export type { ErrorResponse } from './exchange.ts';
export type { LargeBody } from './large-bodies.ts';
export { proxiesOf } from './proxies.ts';
export type { ResponseListener, StreamedResponse } from './streamed-response.ts';

/** Publishes `{ url }` for each request that is handed to the pool. Tests subscribe to prove that nothing was sent. */
const SENT = channel('purser.upstream.request');

/** One URL of an upstream. Each call is one POST that is never sent again. Both calls reject with a `RequestError`. */
export interface Endpoint {
  /** Resolves when the whole response has arrived, or as much of it as is allowed. */
  readonly postBuffered: (body: string, limits: BufferedLimits) => Promise<BufferedResponse>;
  /** Resolves when the head of the response has arrived. Aborting the signal ends the request. */
  readonly postStreamed: (body: string, limits: StreamedLimits) => Promise<StreamedResponse>;
}

export interface HttpClient {
  /** Builds the request head once for all calls. If a header holds a forbidden character, each call fails as `invalid`. */
  readonly endpoint: (url: URL, headers: Readonly<Record<string, string>>) => Endpoint;
  /** Ends every request under way. Later calls fail as `closed`. */
  readonly close: () => void;
}

interface HttpClientOptions {
  /** Finds the proxy for an endpoint. If it is undefined, all connections are direct. */
  readonly findProxy?: FindProxy;
  readonly largeBodies?: LargeBodies;
}

/** An HTTP/1.1 client that keeps connections alive. It follows no redirects: a 3xx is a response like any other. */
export function createHttpClient({ findProxy, largeBodies = new LargeBodies() }: HttpClientOptions = {}): HttpClient {
  const deadlines = new Deadlines();
  const pools = new Map<string, Pool>();
  let isClosed = false;

  function poolOf(url: URL): Pool {
    const { origin, protocol, hostname, port } = url;
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const isTls = protocol === 'https:';
    const target: Origin = {
      isTls,
      host: withoutBrackets(hostname),
      port: port === '' ? (isTls ? 443 : 80) : Number(port),
      proxy: findProxy?.(url),
    };
    const pool = new Pool(target, deadlines);
    pools.set(origin, pool);
    return pool;
  }

  return {
    endpoint: (url, headers) => {
      const head = headOf(url, headers);
      const pool = poolOf(url);
      function send<E extends BufferedExchange | StreamedExchange>(exchange: E): E {
        // Its signal was aborted before the call.
        if (exchange.isOver) return exchange;
        if (isClosed) exchange.onError(closed());
        else if (head === undefined) exchange.onError(new RequestError('invalid', 'A request header is invalid.'));
        else {
          if (SENT.hasSubscribers) SENT.publish({ url: url.href });
          pool.send(exchange);
        }
        return exchange;
      }
      return {
        postBuffered: (body, limits) =>
          send(new BufferedExchange(requestOf(head, body, limits.headers), deadlines, limits, largeBodies)).response,
        postStreamed: (body, limits) =>
          send(new StreamedExchange(requestOf(head, body, limits.headers), deadlines, limits)).response,
      };
    },
    close: () => {
      isClosed = true;
      for (const pool of pools.values()) pool.close(closed());
    },
  };
}

function closed(): RequestError {
  return new RequestError('closed', 'The HTTP client is closed.');
}

// The characters of RFC 9110. A line break in a value, such as a key from the environment, would begin another header.
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

type Headers = Readonly<Record<string, string>>;

/** The headers of one call alone. A value that could be read as something else is left out. */
function linesOf(headers: Headers): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (NAME.test(name) && VALUE.test(value)) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The request up to the value of its content-length. Undefined if a header could be read as something else. */
function headOf({ host, pathname, search }: URL, headers: Readonly<Record<string, string>>): string | undefined {
  const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, 'connection: keep-alive'];
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    lines.push(`${name}: ${value}`);
  }
  return `${lines.join('\r\n')}\r\ncontent-length: `;
}

/** Joins head and body into one string, so that one write sends both. */
function requestOf(head: string | undefined, body: string, headers: Headers | undefined): RequestBytes {
  const length = Buffer.byteLength(body);
  const own = headers === undefined ? '' : linesOf(headers);
  // V8 stores a string of one-byte characters as bytes, and `latin1` writes them as they are.
  return { bytes: `${head}${length}\r\n${own}\r\n${body}`, encoding: length === body.length ? 'latin1' : 'utf8' };
}
