import { type Exchange, sendNowhere, sendRefusal } from '#http/respond.ts';
import { isOfThisMachine } from '#http/this-machine.ts';
import { equalBytes, sha256 } from '#kernel/crypto.ts';
import { bearerTokenOf } from '#kernel/header-text.ts';
import { METRICS_CONTENT_TYPE, type MetricReading, renderMetrics } from '#kernel/metrics.ts';
import { refuse } from '#kernel/refusal.ts';

export interface MetricsPlane {
  /** What a reader must show. Undefined: only this machine may read. */
  readonly token: string | undefined;
  /** What all processes of this service have together. */
  readonly readAll: () => Promise<readonly MetricReading[]>;
}

/** `GET /metrics`, in the text format of Prometheus. For others than its readers there is nothing here. */
export async function handleMetrics({ token, readAll }: MetricsPlane, exchange: Exchange): Promise<void> {
  if (token !== undefined && !showsToken(exchange, token)) {
    return sendRefusal(
      exchange,
      refuse('UNAUTHORIZED', 'The token for metrics is needed: `authorization: Bearer <token>`.'),
    );
  }
  if (token === undefined && !isOfThisMachine(exchange.request)) return sendNowhere(exchange);
  const text = renderMetrics(await readAll());
  const { response } = exchange;
  if (response.headersSent) return; // As in `sendJson`.
  response.setHeader('content-type', METRICS_CONTENT_TYPE);
  response.setHeader('cache-control', 'no-store');
  response.end(text);
}

/** Compared by digest, so that neither length nor content shows in the time it takes. */
function showsToken({ request }: Exchange, token: string): boolean {
  const shown = bearerTokenOf(request.headers.authorization);
  return shown !== undefined && equalBytes(sha256(shown), sha256(token));
}
