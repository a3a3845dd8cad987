import type { Socket } from 'node:net';
import type { Agent, request as Request } from 'undici';
import type { EventType } from '@purser/contract/webhooks.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { BlockedAddress, type EndpointGuard } from '#webhooks/delivery/endpoint-guard.ts';
import { signatureOf } from '#webhooks/delivery/signature.ts';

/** One delivery. Every attempt sends the same body, byte for byte (WH-04). */
interface Delivery {
  readonly eventId: string;
  readonly type: EventType;
  readonly body: Buffer;
  /** The number of the attempt. The first is 1. */
  readonly attempt: number;
  readonly endpointUrl: string;
  readonly secret: string;
}

/** How an attempt ended. Of the receiver's answer only the status is kept: its body is not ours to store. */
export interface AttemptOutcome {
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  /** What the owner is told if there was no status. A word from this list, never the fault's own text. */
  readonly error: 'timeout' | 'connection_failed' | 'address_blocked' | 'certificate_invalid' | undefined;
}

/** Sends deliveries over HTTP. It never retries: `record.sql` says when the next attempt is due. */
export interface Courier {
  /** Sends a delivery at most once. Never rejects. Undefined if `signal` ended it; the attempt then does not count. */
  readonly deliver: (delivery: Delivery, signal: AbortSignal) => Promise<AttemptOutcome | undefined>;
  readonly close: () => Promise<void>;
}

interface CourierOptions {
  readonly guard: EndpointGuard;
  readonly clock: Clock;
  readonly attemptMsMax?: number;
}

/** The limit for a whole attempt, from before the name is resolved to the status line (WH-11). */
const ATTEMPT_MS_MAX = 5_000;
/** The names of faults after a wait: ours, and those of the library. */
const TIMEOUTS = new Set(['TimeoutError', 'AbortError', 'ConnectTimeoutError']);
const CERTIFICATE_CODE = /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL)/;

export function createCourier({ guard, clock, attemptMsMax = ATTEMPT_MS_MAX }: CourierOptions): Courier {
  let client: Promise<Client> | undefined;
  return {
    deliver: async (delivery, signal) => {
      client ??= openClient(guard, attemptMsMax).catch((fault: unknown) => {
        client = undefined; // The next delivery tries again.
        throw fault;
      });
      const opened = await client;
      const startedAtMs = clock.nowMs();
      const outcome = await attempt(opened, guard, delivery, {
        seconds: Math.floor(startedAtMs / 1_000),
        signal: AbortSignal.any([signal, AbortSignal.timeout(attemptMsMax)]),
      });
      // An answer that arrived before the abort counts: the receiver has the event.
      if (signal.aborted && outcome.status === undefined) return undefined;
      return { startedAtMs, durationMs: Math.max(0, clock.nowMs() - startedAtMs), ...outcome };
    },
    close: async () => {
      await (await client)?.agent.destroy();
    },
  };
}

interface Client {
  readonly agent: Agent;
  readonly request: typeof Request;
}

/** Loads the library with the first delivery: it takes 12 MB, and many processes never deliver an event. */
async function openClient(guard: EndpointGuard, attemptMsMax: number): Promise<Client> {
  const { Agent, buildConnector, request } = await import('undici');
  const connect = buildConnector({
    lookup: guard.lookup,
    timeout: attemptMsMax,
    minVersion: 'TLSv1.2',
    allowH2: false,
  });
  const agent = new Agent({
    pipelining: 1,
    maxResponseSize: 64 * 1_024,
    connect: (options, callback) => {
      // The socket's own address is checked again after the dial. An address in the URL is never resolved, so `lookup`
      // does not see it.
      connect(options, (...[fault, socket]) => {
        if (fault !== null) callback(fault, null);
        else if (isWithin(guard, socket)) callback(null, socket);
        else {
          socket.destroy();
          callback(new BlockedAddress(), null);
        }
      });
    },
  });
  return { agent, request };
}

async function attempt(
  { agent, request }: Client,
  guard: EndpointGuard,
  { eventId, type, body, attempt: number, endpointUrl, secret }: Delivery,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Pick<AttemptOutcome, 'status' | 'error'>> {
  try {
    const url = new URL(endpointUrl);
    guard.checkLiteral(url);
    // `request` follows no redirects: one could lead to a private address after all checks (WH-02).
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      signal,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'service-webhooks/1',
        'x-service-event-id': eventId,
        'x-service-event-type': type,
        'x-service-delivery-attempt': String(number),
        'x-service-signature': signatureOf(secret, seconds, body),
      },
    });
    answer.body.on('error', () => {}).destroy(); // Only the status counts. A receiver cannot make us read its body.
    return { status: answer.statusCode, error: undefined };
  } catch (fault) {
    return { status: undefined, error: errorOf(fault) };
  }
}

function isWithin(guard: EndpointGuard, socket: Socket): boolean {
  return socket.remoteAddress !== undefined && guard.mayDial(socket.remoteAddress);
}

/** Sorts a fault into the four words that an owner may see. The text of a fault may name addresses of our network. */
function errorOf(fault: unknown): AttemptOutcome['error'] {
  if (!(fault instanceof Error)) return 'connection_failed';
  if (fault instanceof BlockedAddress || fault.cause instanceof BlockedAddress) return 'address_blocked';
  const isTimeout = TIMEOUTS.has(fault.name);
  if (isTimeout) return 'timeout';
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
  return CERTIFICATE_CODE.test(code) ? 'certificate_invalid' : 'connection_failed';
}
