import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { endAfterBody } from '#http/answers/end-after-body.ts';
import type { Exchange } from '#http/answers/respond.ts';
import type { Plane } from '#http/planes/planes.ts';

/**
 * How the listener of a process that stops closes without losing a request (decision 80). First the process says that it stops,
 * and goes on serving: a proxy needs a moment to notice. Then it closes the listener.
 */
export interface Closing {
  readonly hasBegun: () => boolean;
  /**
   * Begins to close: from now on the process is not ready, and each answer ends its connection. Connections that wait
   * for a request stay.
   */
  readonly begin: (server: Server, idleMsMax: number) => void;
  /**
   * It is called for each request that arrives after `begin`. It returns true if the request was turned away, because
   * its proxy said that it has another gateway for it. Nothing was done for it, so it can be repeated.
   */
  readonly turnsAway: (exchange: Exchange) => boolean;
  /** Why the process should get no calls. If it is undefined, other checks decide. */
  readonly reason: () => string | undefined;
}

/** The header that is sent by a proxy that repeats a request at another gateway after a 503. */
export const ELSEWHERE = 'x-service-elsewhere';
/** Where nginx sends the call if it has no other gateway: a place of its sample, which leaves that header out. */
const LAST_RESORT = '@elsewhere';
const REASON = 'The service is stopping.';
/** The addresses that say how this process is. They are answered to the end. */
const OWN_STATE: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export function createClosing(): Closing {
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    reason: () => (hasBegun ? REASON : undefined),
    begin: (server, idleMsMax) => {
      hasBegun = true;
      // For connections whose answer began earlier: it said that they stay open.
      if (idleMsMax > 0) server.keepAliveTimeout = Math.min(server.keepAliveTimeout, idleMsMax);
    },
    turnsAway: ({ request, response, path, correlationId }) => {
      response.setHeader('connection', 'close');
      if (request.headers[ELSEWHERE] === undefined || OWN_STATE.has(path)) return false;
      const text = JSON.stringify({ status: 'unavailable', reason: REASON });
      response.writeHead(503, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'x-correlation-id': correlationId,
        'x-request-id': correlationId,
        'retry-after': '1',
        'x-accel-redirect': LAST_RESORT,
      });
      if (isRead(request)) response.end(text);
      else endAfterBody(request, response, text);
      return true;
    },
  };
}

function isRead({ complete, headers }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0);
}

/**
 * Closes the listener. Unlike `close` of an HTTP server it leaves connections that wait for a request: a proxy may be sending
 * one into such a connection right now. Resolves when all connections have ended.
 */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
}

/** Counts requests that are being answered and work that continues after an answer. A graceful shutdown waits for both. */
export interface InFlight {
  readonly count: () => number;
  /** Counts the work until it settles, successful or not. Returns the same promise. */
  readonly follow: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Counts until the returned function is called. Call it exactly once. */
  readonly begin: () => () => void;
}

export function createInFlight(): InFlight {
  let count = 0;
  const end = (): void => void (count -= 1);
  const begin = (): (() => void) => {
    count += 1;
    return end;
  };
  return {
    begin,
    count: () => count,
    follow: (work) => {
      begin();
      work.then(end, end);
      return work;
    },
  };
}

/** Counts the handlers of all routes added after this. A handler continues after its caller has left, so it counts alone. */
export function followHandlers(plane: Plane, inFlight: InFlight): void {
  plane.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function follow(request, reply) {
      const work: unknown = handler.call(this, request, reply);
      return work instanceof Promise ? inFlight.follow(work) : work;
    };
  });
}
