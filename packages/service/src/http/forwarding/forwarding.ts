import type { Caller, KeyDirectory } from '#developers/keys/directory.ts';
import type { CellMap } from '#cells/routing/map.ts';
import { MARKER, MARKER_REFUSED, type Markers } from '#cells/routing/marker.ts';
import { userElsewhere } from '#gateway/answer/refusals.ts';
import { parseUser } from '#gateway/request/admission.ts';
import { ELSEWHERE } from '#http/listener/closing.ts';
import { createRelay, endToEnd, type Relay, Unanswered } from '#http/forwarding/relay.ts';
import { faultRefusal } from '#http/answers/envelope.ts';
import { declaredRefusal, readBody, knownCallers } from '#http/requests/read-body.ts';
import { type Exchange, sendRefusal, setHeaders } from '#http/answers/respond.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { bearerTokenOf, headerOf } from '#kernel/text/header-text.ts';
import type { OtherCell } from '#kernel/values/slot.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

type Handle = (exchange: Exchange) => Promise<void> | void;

/** Sends requests about users of other cells there, once, and hands on the answers. */
export interface Forwarding {
  /** The same handler for users of this cell. Requests about others are forwarded instead. */
  readonly around: (handle: Handle) => Handle;
  /** Whether a request was forwarded. The other cell then has its log line, its trace and its sums. */
  readonly has: (exchange: Exchange) => boolean;
  /**
   * Returns the number of chat calls that other cells are answering. They hold money there, so a process that stops
   * lets them end like its own.
   */
  readonly callsInFlight: () => number;
  readonly close: () => void;
}

interface ForwardingOptions {
  /** The directory of keys, without single-use keys, which only this process knows. */
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly map: Pick<CellMap, 'otherOf' | 'isMoving'>;
  readonly markers: Markers;
  /** The address that a request came from, past the operator's own proxies. */
  readonly addressOf: (request: Exchange['request']) => string;
  /** The largest body of the wires that take more than 1 MiB. */
  readonly bodyBytesMax: number;
  readonly log: Log;
}

/** Requests of a process that one other cell is answering. Each has a connection of its own there. */
const IN_FLIGHT_MAX = 4_000;
/** This is longer than any plain answer may let its caller wait (`timeoutMs` of a model). */
const CHAT_SILENCE_MS_MAX = 3_600_000;
/** The longest silence of all other routes. They read a database whose statements end after seconds. */
const SILENCE_MS_MAX = 30_000;
/** What the next gateway is not told: it has its own, or would believe it. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-correlation-id',
  ELSEWHERE, // Our proxy has said it of the gateways here.
  MARKER,
]);

/**
 * Everything that a call is checked for is checked where its user is, in the order of CC-10. Here only what finds out where that is: a valid key, and
 * a well-formed user. What has neither is refused here.
 */
export function createForwarding(options: ForwardingOptions): Forwarding {
  const { keys, map, markers, log } = options;
  const relay = createRelay();
  const forwarded = new WeakSet<Exchange>();
  const send = createSender(options, relay, forwarded);
  /** The requests under way by cell, so that a cell that does not answer takes nothing from the others. */
  const inFlight = new Map<string, number>();
  let calls = 0;

  function judge(exchange: Exchange, caller: Caller | undefined, handle: Handle): Promise<void> | void {
    if (caller === undefined || caller.app.isSuspended) return handle(exchange);
    const { headers } = exchange.request;
    const userId = parseUser(caller, headerOf(headers, 'x-service-user'));
    const other = userId instanceof Refusal ? undefined : map.otherOf(caller.app.appId, userId);
    if (other === undefined && !(userId instanceof Refusal) && map.isMoving(caller.app.appId, userId)) {
      return sendRefusal(exchange, userElsewhere());
    }
    if (headers[MARKER] === undefined) {
      return other === undefined ? handle(exchange) : forward(exchange, caller, other);
    }
    // A request with a marker is never forwarded, so two cells that disagree cannot send it round and round.
    const marked = markers.read(headers);
    if (marked === undefined) {
      setHeaders(exchange.response, [MARKER, MARKER_REFUSED]);
      return sendRefusal(exchange, notOurs());
    }
    if (other === undefined) return handle(exchange);
    const { correlationId } = exchange;
    log.warn({ correlationId, from: marked.from, to: other.name }, 'cells disagree on where a user is');
    return sendRefusal(exchange, userElsewhere()); // The maps differ for a fraction of a second after each change.
  }

  async function forward(exchange: Exchange, caller: Caller, other: OtherCell): Promise<void> {
    const { request, correlationId } = exchange;
    const { name: cell } = other;
    const declared = declaredRefusal(request, largestBodyOf(exchange, options));
    if (declared !== undefined) return sendRefusal(exchange, declared);
    const others = inFlight.get(cell) ?? 0;
    if (others >= IN_FLIGHT_MAX) return sendRefusal(exchange, tooMany());
    const isCall = exchange.notes !== undefined;
    inFlight.set(cell, others + 1);
    if (isCall) calls += 1;
    try {
      await send(exchange, caller, other);
    } catch (fault) {
      log.error({ correlationId, cell, fault: describeFault(fault) }, 'another cell cannot be reached');
      // A refusal says that the call costs nothing. Here only the other cell knows, so the call ends as if this gateway had died.
      if (isCall && fault instanceof Unanswered) exchange.response.destroy();
      else sendRefusal(exchange, faultRefusal());
    } finally {
      inFlight.set(cell, (inFlight.get(cell) ?? 1) - 1);
      if (isCall) calls -= 1;
    }
  }

  return {
    around: (handle) => (exchange) => {
      const found = callerOf(exchange, keys);
      if (found instanceof Promise) return found.then((caller) => judge(exchange, caller, handle));
      return judge(exchange, found, handle);
    },
    has: (exchange) => forwarded.has(exchange),
    callsInFlight: () => calls,
    close: relay.close,
  };
}

/** Reads the body of a request and sends it to the other cell. */
function createSender(options: ForwardingOptions, relay: Relay, forwarded: WeakSet<Exchange>) {
  const { markers, addressOf, log } = options;

  function tell({ correlationId, response }: Exchange, caller: Caller, other: OtherCell, beganMs: number): void {
    const durationMs = Math.round(steadyClock.nowMs() - beganMs);
    const { statusCode: status } = response;
    log.info({ correlationId, appId: caller.app.appId, cell: other.name, status, durationMs }, 'forwarded');
  }

  /** Ends before the answer does: a function that waited for a long stream would keep the body until then. */
  return async (exchange: Exchange, caller: Caller, other: OtherCell): Promise<void> => {
    const { request, correlationId, path, query } = exchange;
    const most = largestBodyOf(exchange, options);
    const body = await readBody(exchange, { arriving: knownCallers, caller: caller.app.accountId, most });
    if (body === undefined || exchange.response.headersSent) return; // The caller has left, or was refused as malformed.
    if (body instanceof Refusal) return sendRefusal(exchange, body);
    forwarded.add(exchange);
    const marker = markers.make(other.name, correlationId, addressOf(request));
    const own = ['x-correlation-id', correlationId, MARKER, marker];
    const headers = [...endToEnd(request.rawHeaders, NOT_PASSED), ...own];
    const target = query === '' ? path : `${path}?${query}`;
    const silenceMsMax = exchange.notes === undefined ? SILENCE_MS_MAX : CHAT_SILENCE_MS_MAX;
    const beganMs = steadyClock.nowMs();
    const answered = relay.send(exchange, { baseUrl: other.baseUrl, target, headers, body, silenceMsMax });
    return answered.then(() => tell(exchange, caller, other, beganMs));
  };
}

function largestBodyOf({ notes }: Exchange, { bodyBytesMax }: ForwardingOptions): number | undefined {
  return notes?.wire.takesLargeBodies === true ? bodyBytesMax : undefined;
}

/** The caller by either of the keys that clients of some wires send. Which of them counts is judged where the user is. */
function callerOf({ request, notes }: Exchange, keys: ForwardingOptions['keys']): ReturnType<KeyDirectory['find']> {
  const { headers } = request;
  const token = bearerTokenOf(headers.authorization);
  const byToken = () => (token === undefined ? undefined : keys.find(token));
  const named = notes?.wire.takesKeyHeader === true ? headers['x-api-key'] : undefined;
  if (typeof named !== 'string') return byToken();
  const found = keys.find(named);
  return found instanceof Promise ? found.then((caller) => caller ?? byToken()) : (found ?? byToken());
}

function notOurs(): Refusal<'BAD_REQUEST'> {
  const message = `The header \`${MARKER}\` is for the cells of this service among themselves. Leave it out.`;
  return refuse('BAD_REQUEST', message, { param: MARKER });
}

function tooMany(): Refusal<'TOO_MANY_REQUESTS'> {
  const message = 'Too many requests are under way to another part of the service. Send this one again in a second.';
  return refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds: 1 });
}
