import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERROR_STATUS } from '@purser/contract/errors.ts';
import { CallNotes } from '#gateway/call/call-notes.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { type Closing, type InFlight } from '#http/listener/closing.ts';
import { envelopeOf } from '#http/answers/envelope.ts';
import { refusals } from '#http/answers/refusal-counter.ts';
import { handleBalance } from '#http/data-plane/balance.ts';
import { handleCall } from '#http/data-plane/call.ts';
import { handleCount } from '#http/data-plane/count.ts';
import { handleConnect } from '#http/data-plane/connect.ts';
import type { DataPlane } from '#http/data-plane/data-plane.ts';
import { handleModel, handleModelList } from '#http/data-plane/models.ts';
import { handlePriceList } from '#http/data-plane/prices.ts';
import { handleReceipt } from '#http/data-plane/receipt.ts';
import { handleUsageSummary } from '#http/data-plane/usage-summary.ts';
import { type EchoToDoctor, handleHealth, handleReadiness } from '#http/service/health.ts';
import { handleMetrics, type MetricsPlane } from '#http/service/metrics.ts';
import type { OpenOtherRoutes } from '#http/listener/other-routes.ts';
import type { PageRoutes } from '#http/listener/page-routes.ts';
import { createRequestLog } from '#http/listener/request-log.ts';
import { handleProcessorWebhook } from '#http/service/processor-webhooks.ts';
import {
  correlationIdOf,
  type Exchange,
  nameAnswer,
  openExchange,
  sendFault,
  sendNotAllowed,
  sendRefusal,
} from '#http/answers/respond.ts';
import type { Log } from '#kernel/log.ts';
import { createServer, STATUS_CODES } from '#kernel/node-http.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ProcessorWebhooks } from '#payments/booking/processor-webhooks.ts';
import type { ProcessorName } from '#payments/processor/processor.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** The limit holds for the whole request including its body. Answers have no limit: a stream may run for minutes. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often slow senders are looked for. Node's default of 30 s would turn the 10 s above into 40 s. */
const SLOW_CHECK_MS = 1_000;
/** How long a connection that we have ended waits for the other side to end it too. */
const CLOSE_MS_MAX = 2_000;
/**
 * This is longer than load balancers keep their connections. Otherwise one could send a request into a connection that
 * we just closed.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Back-pressure begins at this many unread bytes. Node's default of 64 KiB adds up with thousands of open streams. */
const UNREAD_BYTES_MAX = 16 * 1024;
const MODEL_PATH = '/v1/models/';
const RECEIPT_PATH = '/calls/';
const NOTIFYING = ['stripe', 'test'] as const satisfies readonly ProcessorName[];

interface ServerOptions {
  readonly dataPlane: DataPlane;
  /** A process that only takes calls never opens them. */
  readonly openOthers: OpenOtherRoutes;
  /** It is undefined if no payment processor is configured. */
  readonly processorWebhooks: ProcessorWebhooks | undefined;
  /** Says why this process should get no calls. Undefined if it is ready. */
  readonly readiness: () => Promise<string | undefined>;
  readonly echoToDoctor: EchoToDoctor;
  readonly metrics: MetricsPlane;
  readonly log: Log;
  /** Every request has a line, for the person at the terminal. Otherwise only calls have one. */
  readonly logsRequests?: boolean;
  readonly inFlight: InFlight;
  readonly closing: Closing;
}

/** Makes the notes of calls. Their handler writes the correlation id itself, together with all other headers in one call. */
function createNotes(wires: readonly Wire[]): (path: string) => CallNotes | undefined {
  const byPath = new Map(wires.map((wire) => [wire.path, wire]));
  return (path) => {
    const wire = byPath.get(path);
    return wire && new CallNotes(wire);
  };
}

type Handler = (exchange: Exchange) => Promise<void> | void;
type Route = Readonly<Partial<Record<string, Handler>>>;

/** Creates the HTTP server. Every answer of every route has a correlation id, and every error is in the envelope (ER-01). */
export function createHttpServer(options: ServerOptions): Server {
  const routes = routesOf(options);
  const notesOf = createNotes(options.dataPlane.gateway.wires);
  const latest = new WeakMap<Duplex, Exchange>();
  const logRequest = requestLogOf(options, routes);
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: SLOW_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requireHostHeader: false,
      noDelay: true,
      highWaterMark: UNREAD_BYTES_MAX,
    },
    (request, response) => void answer(request, response),
  );
  server.on('checkExpectation', (request, response) => {
    const exchange = openExchange(request, response);
    sendRefusal(exchange, refuse('BAD_REQUEST', '`expect` must be `100-continue` or left out.', { param: 'expect' }));
  });
  server.on('connect', (request, socket) =>
    writeRefusal(socket, refuse('METHOD_NOT_ALLOWED', 'This server is not a proxy.'), request),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // An earlier answer will close this connection. This request would be carried out and charged, and its answer lost.
    if (doomed.has(request.socket) || latest.get(request.socket)?.response.getHeader('connection') === 'close') return;
    const exchange = openExchange(request, response, notesOf);
    latest.set(request.socket, exchange);
    if (options.closing.hasBegun() && options.closing.turnsAway(exchange)) return;
    if (exchange.notes === undefined) {
      nameAnswer(exchange);
      logRequest?.(exchange);
    }
    response.on('close', options.inFlight.begin());
    const end = options.inFlight.begin();
    try {
      await dispatch(routes, options, exchange);
    } catch (fault) {
      sendFault(exchange, options.log, fault, routeNameOf(routes, exchange.path));
    } finally {
      end();
      if (exchange.notes !== undefined) options.dataPlane.endCall(exchange, exchange.notes);
    }
  }

  server.on('clientError', (_fault, socket) => refuseMalformed(socket, latest.get(socket)));
  return server;
}

/** The routes that need no parameter, found by one look-up in a map. The hot path does not go through the framework. */
function routesOf({
  dataPlane,
  processorWebhooks,
  readiness,
  echoToDoctor,
  metrics,
  closing,
}: ServerOptions): ReadonlyMap<string, Route> {
  const { around: ofUser = same } = dataPlane.forwarding ?? {};
  const routes = new Map<string, Route>([
    ...dataPlane.gateway.wires.map((wire): [string, Route] => [
      wire.path,
      { POST: ofUser((exchange) => handleCall(dataPlane, wire, exchange)) },
    ]),
    ...dataPlane.gateway.wires.flatMap((wire): [string, Route][] => {
      const { counting } = wire;
      return counting === undefined
        ? []
        : [[counting.path, { POST: (exchange) => handleCount(dataPlane, wire, exchange) }]];
    }),
    ['/v1/models', { GET: (exchange) => handleModelList(dataPlane, exchange) }],
    ['/prices', { GET: (exchange) => handlePriceList(dataPlane, exchange) }],
    ['/balance', { GET: ofUser((exchange) => handleBalance(dataPlane, exchange)) }],
    ['/connect', { POST: ofUser((exchange) => handleConnect(dataPlane, exchange)) }],
    ['/usage/summary', { GET: ofUser((exchange) => handleUsageSummary(dataPlane, exchange)) }],
    ['/healthz', { GET: (exchange) => handleHealth(exchange, echoToDoctor) }],
    ['/readyz', { GET: ({ response }) => handleReadiness(response, async () => closing.reason() ?? readiness()) }],
    ['/metrics', { GET: (exchange) => handleMetrics(metrics, exchange) }],
  ]);
  for (const { path, handle } of dataPlane.cellRoutes) routes.set(path, { POST: handle });
  for (const processor of NOTIFYING) {
    const from = processorWebhooks?.processor === processor ? processorWebhooks : undefined;
    routes.set(`/webhooks/${processor}`, { POST: (exchange) => handleProcessorWebhook(from, exchange) });
  }
  return routes;
}

function same(handler: Handler): Handler {
  return handler;
}

function requestLogOf({ logsRequests = false, log, openOthers }: ServerOptions, routes: ReadonlyMap<string, Route>) {
  if (!logsRequests) return undefined;
  return createRequestLog(log, { own: (path) => routeNameOf(routes, path), openOthers });
}

/** Finds the handler of a request: a route of ours or a model's name, or else a page or one of the framework's routes. */
function dispatch(
  routes: ReadonlyMap<string, Route>,
  { dataPlane, openOthers }: ServerOptions,
  exchange: Exchange,
): Promise<void> | void {
  const route = routes.get(exchange.path) ?? namedRouteOf(dataPlane, exchange.path);
  return route === undefined ? dispatchOther(openOthers, exchange) : handleBy(route, exchange);
}

async function dispatchOther(openOthers: OpenOtherRoutes, exchange: Exchange): Promise<void> {
  const { planes, pages } = await openOthers();
  if (exchange.response.headersSent) return; // The body turned out to be malformed, and was refused meanwhile (ER-08).
  const page = pageRouteOf(pages, exchange.path);
  return page === undefined ? planes.handle(exchange) : handleBy(page, exchange);
}

function handleBy(route: Route, exchange: Exchange): Promise<void> | void {
  const method = exchange.request.method ?? '';
  const handler = route[method === 'HEAD' ? 'GET' : method]; // Node sends no body in answer to HEAD.
  if (handler !== undefined) return handler(exchange);
  sendNotAllowed(exchange, Object.keys(route));
}

/** Binds the `:part` of an address to the handlers of its page. */
function pageRouteOf(pages: PageRoutes, path: string): Route | undefined {
  const found = pages(path);
  if (found === undefined) return undefined;
  const bound = Object.entries(found.handlers).map(([method, handle]) => [
    method,
    (exchange: Exchange) => handle(exchange, found.part),
  ]);
  return Object.fromEntries(bound) as Route;
}

/** The routes whose address ends with a name. A model's name may take several path segments: an alias may contain a slash. */
function namedRouteOf(plane: DataPlane, path: string): Route | undefined {
  const call = nameAfter(RECEIPT_PATH, path);
  if (call !== undefined) {
    const { around: ofUser = same } = plane.forwarding ?? {};
    return { GET: ofUser((exchange) => handleReceipt(plane, exchange, call)) };
  }
  const model = nameAfter(MODEL_PATH, path);
  return model === undefined ? undefined : { GET: (exchange) => handleModel(plane, exchange, model) };
}

function nameAfter(start: string, path: string): string | undefined {
  if (!path.startsWith(start) || path.length === start.length) return undefined;
  try {
    return decodeURIComponent(path.slice(start.length));
  } catch {
    return undefined;
  }
}

/** A route of this file in the log, without the name in its address. Undefined for all others. */
function routeNameOf(routes: ReadonlyMap<string, Route>, path: string): string | undefined {
  if (routes.has(path)) return path;
  if (path.startsWith(RECEIPT_PATH)) return `${RECEIPT_PATH}:call`;
  return path.startsWith(MODEL_PATH) ? `${MODEL_PATH}:model` : undefined;
}

/**
 * Answers bytes that are not an HTTP request with a 400, in the envelope like every error (ER-08). If they follow a request
 * that is still being answered, they must neither get into that answer nor cut it short, because it may have been paid
 * for: the answer goes out first, then the connection ends.
 */
function refuseMalformed(socket: Duplex, latest: Exchange | undefined): void {
  const message = 'The request is not valid HTTP, its headers are too large, or it came too slowly.';
  const refusal = refuse('BAD_REQUEST', message);
  if (latest === undefined) return writeRefusal(socket, refusal, undefined);
  const { request, response } = latest;
  if (!response.headersSent && !request.complete) sendRefusal(latest, refusal, false);
  else if (!response.writableFinished) hangUpAfter(response, socket);
  else if (response.getHeader('connection') === 'close') socket.destroy();
  else writeRefusal(socket, refusal, undefined);
}

/** Connections that accept no further request. */
const doomed = new WeakSet<Duplex>();

/** Ends a connection after the answer that is on its way. Bytes that follow are ignored. */
function hangUpAfter(response: ServerResponse, socket: Duplex): void {
  if (doomed.has(socket)) return; // Each further read of such bytes raises the error again.
  doomed.add(socket);
  response.once('finish', () => hangUp(socket, ''));
}

/** Writes a refusal directly to the socket, for requests that Node made no response object for, and ends the connection. */
function writeRefusal(socket: Duplex, refusal: Refusal, request: IncomingMessage | undefined): void {
  if (!socket.writable) return;
  const correlationId = correlationIdOf(request);
  const status = ERROR_STATUS[refusal.code];
  refusals.of({ code: refusal.code }).add();
  const body = JSON.stringify(envelopeOf(refusal, correlationId));
  hangUp(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-correlation-id: ${correlationId}\r\n` +
      `x-request-id: ${correlationId}\r\nx-should-retry: false\r\nconnection: close\r\n` +
      `${status === 405 ? 'allow: GET, POST\r\n' : ''}\r\n${body}`,
  );
}

/**
 * Writes the last bytes of a connection. Bytes that still arrive are read and dropped. If they stayed unread, we would never
 * see that the other side has left, and the connection would stay open for good. A peer that never leaves is cut off.
 */
function hangUp(socket: Duplex, text: string): void {
  doomed.add(socket);
  socket.end(text);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
}
