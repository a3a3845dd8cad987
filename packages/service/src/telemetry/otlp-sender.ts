import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OtlpTarget } from '#telemetry/settings.ts';
import { Agent as HttpAgent, request as requestHttp } from '#kernel/node-http.ts';

/**
 * With `again`, the collector is away or busy, and the same may be sent later. With `refused`, it will never take this.
 */
export type Sent =
  | { readonly result: 'taken' }
  | { readonly result: 'again' | 'refused'; readonly reason: string; readonly retryAfterMs?: number };

export interface OtlpSender {
  /** Sends one request. Never rejects, and takes at most the target's `timeoutMs`. */
  readonly send: (body: Buffer) => Promise<Sent>;
  readonly close: () => void;
}

const TYPES = { 'http/protobuf': 'application/x-protobuf', 'http/json': 'application/json' } as const;
/** The statuses after which a request may be sent again, by the OTLP specification. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRY_AFTER_SECONDS_MAX = 300;
const compress = promisify(gzip);

/** Sends to one OTLP endpoint over one connection. Redirects are not followed: the headers may hold a key. */
export function createOtlpSender({ url, protocol, headers, timeoutMs, isCompressed }: OtlpTarget): OtlpSender {
  const isTls = url.startsWith('https:');
  const request = isTls ? requestHttps : requestHttp;
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
  const fixed = {
    'user-agent': 'purser/1',
    ...headers,
    'content-type': TYPES[protocol],
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  };

  function post(body: Buffer): Promise<Sent> {
    return new Promise((resolve) => {
      const failed = (reason: string) => resolve({ result: 'again', reason });
      const signal = AbortSignal.timeout(timeoutMs);
      const sent = request(url, {
        method: 'POST',
        agent,
        signal,
        headers: { ...fixed, 'content-length': body.length },
      });
      sent.on('response', (response) => {
        response.resume(); // What a collector says is not shown: it may repeat what it was sent.
        response.on('error', () => failed('cut'));
        response.on('end', () => resolve(sentOf(response.statusCode ?? 0, response.headers['retry-after'])));
      });
      sent.on('error', (fault: NodeJS.ErrnoException) =>
        failed(signal.aborted ? 'timeout' : (fault.code ?? fault.name)),
      );
      sent.end(body);
    });
  }

  return {
    send: async (body) => post(isCompressed ? await compress(body) : body),
    close: () => agent.destroy(),
  };
}

function sentOf(status: number, retryAfter: string | undefined): Sent {
  if (status >= 200 && status < 300) return { result: 'taken' };
  const reason = `status ${status}`;
  if (!AGAIN.has(status)) return { result: 'refused', reason };
  const seconds = Math.min(Number(retryAfter), RETRY_AFTER_SECONDS_MAX);
  return seconds > 0 ? { result: 'again', reason, retryAfterMs: seconds * 1_000 } : { result: 'again', reason };
}
