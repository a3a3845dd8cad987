import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { MARKER, MARKER_REFUSED } from '#cells/routing/marker.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { Agent, request as requestHttp } from '#kernel/node-http.ts';

/** A request as it is sent to another gateway. */
interface Relayed {
  /** Where the gateway is, without a trailing slash. */
  readonly baseUrl: string;
  /**
   * The path and the query as they came. They are sent as they are, because a `URL` would take `/calls/../metrics` for
   * another address.
   */
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** How long the other gateway may send nothing, in milliseconds. */
  readonly silenceMsMax: number;
}

/** Sends requests to gateways of other cells and hands their answers on as they come. */
export interface Relay {
  /**
   * Resolves when the answer has ended, also if it broke off or the caller left. Rejects if there was no answer to begin with: nothing
   * was sent to the caller then. `Unanswered` if the other gateway had the request: it may have done what was asked.
   */
  readonly send: (exchange: Exchange, relayed: Relayed) => Promise<void>;
  readonly close: () => void;
}

/** A request that reached the other gateway and was not answered. */
export class Unanswered extends Error {
  constructor(cause: Error) {
    super(`The connection ended without an answer: ${cause.message}`, { cause });
  }
}

const CONNECT_MS_MAX = 2_000;
/**
 * This is shorter than a gateway keeps a silent connection. Otherwise a request could be sent into one that it is just
 * closing.
 */
const IDLE_MS_MAX = 30_000;
const IDLE_MAX = 64;
const TCP_KEEP_ALIVE_MS = 10_000;

/** What a connection says of itself, and not of the request or the answer (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function createRelay(): Relay {
  const settings = {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEP_ALIVE_MS,
    timeout: IDLE_MS_MAX,
    maxFreeSockets: IDLE_MAX,
  };
  const agents = { 'http:': new Agent(settings), 'https:': new TlsAgent(settings) };
  return {
    send: (exchange, { baseUrl, target, headers, body, silenceMsMax }) => {
      const url = new URL(baseUrl);
      const path = `${url.pathname.replace(/\/$/, '')}${target}`;
      const method = exchange.request.method ?? 'GET';
      const length = body.length === 0 ? [] : ['content-length', String(body.length)];
      const options = { method, path, headers: ['host', url.host, ...headers, ...length] };
      const request =
        url.protocol === 'https:'
          ? requestTls(url, { ...options, agent: agents['https:'] })
          : requestHttp(url, { ...options, agent: agents['http:'] });
      boundTimes(request, silenceMsMax);
      request.end(body);
      return handOn(exchange, request);
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** Headers of `raw` (names and values in turn) that are about the message, without those of the connection and those in `except`. */
export function endToEnd(raw: readonly string[], except: ReadonlySet<string> = new Set()): readonly string[] {
  const pairs = Array.from({ length: raw.length / 2 }, (_, n) => [raw[2 * n] ?? '', raw[2 * n + 1] ?? ''] as const);
  const listed = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set(listed.map((name) => name.trim().toLowerCase()));
  return pairs
    .filter(([name]) => {
      const lower = name.toLowerCase();
      return !HOP_BY_HOP.has(lower) && !dropped.has(lower) && !except.has(lower);
    })
    .flat();
}

function boundTimes(request: ClientRequest, silenceMsMax: number): void {
  request.setTimeout(silenceMsMax, () => request.destroy(new Error('The other cell was silent for too long.')));
  request.on('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(new Error('The other cell takes no connection.')), CONNECT_MS_MAX);
    for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer));
  });
}

function handOn(exchange: Exchange, request: ClientRequest): Promise<void> {
  const { response } = exchange;
  return new Promise((resolve, reject) => {
    // Our caller has left, or has the whole answer. In the first case, the other gateway sees that its caller has left.
    response.once('close', () => {
      request.destroy();
      resolve();
    });
    if (response.destroyed) request.destroy(); // It had left before.
    let answer: IncomingMessage | undefined;
    let hasArrived = false;
    // No frame of a fault (ER-06): it would say that the call costs nothing, and a gateway that died may have charged it.
    const breakOff = () => {
      if (!response.writableEnded) response.destroy();
    };
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (hasArrived = true));
      else hasArrived = true;
    });
    request.on('error', (fault) => {
      if (answer === undefined) reject(hasArrived ? new Unanswered(fault) : fault);
      else breakOff();
    });
    request.once('response', (begun) => {
      if (response.headersSent || response.destroyed) return void request.destroy(); // Refused as malformed meanwhile.
      if (begun.headers[MARKER] === MARKER_REFUSED) {
        reject(markerRefused());
        return void request.destroy();
      }
      answer = begun;
      response.writeHead(begun.statusCode ?? 502, [...endToEnd(begun.rawHeaders)]);
      response.flushHeaders();
      begun.on('error', breakOff);
      begun.pipe(response);
    });
  });
}

function markerRefused(): Error {
  return new Error('The other cell refuses our marker. Compare the clocks of both machines, and their PURSER_SECRET.');
}
