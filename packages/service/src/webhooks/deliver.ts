import type { Socket } from 'node:net';
import { Agent, buildConnector, errors, request } from 'undici';
import type { EventType } from '@purser/contract/webhooks.ts';
import type { Clock } from '#kernel/clock.ts';
import { BlockedAddress, type EndpointGuard } from '#webhooks/endpoint-guard.ts';
import { signatureOf } from '#webhooks/signature.ts';

/** What is sent. The body is the same, byte for byte, at every attempt (WH-04). */
interface Delivery {
  readonly eventId: string;
  readonly type: EventType;
  readonly body: Buffer;
  /** The first is 1. */
  readonly attempt: number;
  readonly endpointUrl: string;
  readonly secret: string;
}

/** How an attempt ended. Nothing of the receiver's answer but its status is kept. */
interface AttemptOutcome {
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  /** A word for the owner where there is no status. */
  readonly error: 'timeout' | 'connection_failed' | 'address_blocked' | 'certificate_invalid' | undefined;
}

/** Sends deliveries, each at most once. */
export interface Courier {
  /** Never rejects. Undefined when `signal` ended it: it then counts for nothing. */
  readonly deliver: (delivery: Delivery, signal: AbortSignal) => Promise<AttemptOutcome | undefined>;
  readonly close: () => Promise<void>;
}

interface CourierOptions {
  readonly guard: EndpointGuard;
  readonly clock: Clock;
  readonly attemptMsMax?: number;
}

/** From before the name is looked up until the status line (WH-11). */
const ATTEMPT_MS_MAX = 5_000;
const CERTIFICATE_CODE = /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL)/;

export function createCourier({ guard, clock, attemptMsMax = ATTEMPT_MS_MAX }: CourierOptions): Courier {
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

  return {
    deliver: async (delivery, signal) => {
      const startedAtMs = clock.nowMs();
      const outcome = await attempt(agent, guard, delivery, {
        seconds: Math.floor(startedAtMs / 1_000),
        signal: AbortSignal.any([signal, AbortSignal.timeout(attemptMsMax)]),
      });
      if (signal.aborted && outcome.status === undefined) return undefined;
      return { startedAtMs, durationMs: Math.max(0, clock.nowMs() - startedAtMs), ...outcome };
    },
    close: () => agent.destroy(),
  };
}

async function attempt(
  agent: Agent,
  guard: EndpointGuard,
  { eventId, type, body, attempt: number, endpointUrl, secret }: Delivery,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Pick<AttemptOutcome, 'status' | 'error'>> {
  try {
    const url = new URL(endpointUrl);
    guard.checkLiteral(url);
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
    answer.body.on('error', () => {}).destroy(); // Nothing of it is of interest.
    return { status: answer.statusCode, error: undefined };
  } catch (fault) {
    return { status: undefined, error: errorOf(fault) };
  }
}

function isWithin(guard: EndpointGuard, socket: Socket): boolean {
  return socket.remoteAddress !== undefined && guard.mayDial(socket.remoteAddress);
}

function errorOf(fault: unknown): AttemptOutcome['error'] {
  if (!(fault instanceof Error)) return 'connection_failed';
  if (fault instanceof BlockedAddress || fault.cause instanceof BlockedAddress) return 'address_blocked';
  const isTimeout = ['TimeoutError', 'AbortError'].includes(fault.name) || fault instanceof errors.ConnectTimeoutError;
  if (isTimeout) return 'timeout';
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
  return CERTIFICATE_CODE.test(code) ? 'certificate_invalid' : 'connection_failed';
}
