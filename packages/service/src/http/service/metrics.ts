import { type Exchange, sendNowhere, sendRefusal } from '#http/answers/respond.ts';
import { isOfThisMachine } from '#http/requests/this-machine.ts';
import { equalBytes, sha256 } from '#kernel/crypto/crypto.ts';
import { bearerTokenOf } from '#kernel/text/header-text.ts';
import { METRICS_CONTENT_TYPE, type MetricReading, renderMetrics } from '#kernel/metrics/metrics.ts';
import { refuse } from '#kernel/faults/refusal.ts';

export interface MetricsPlane {
  /** The token that readers must send. Undefined means that only this machine may read. */
  readonly token: string | undefined;
  /** The readings of all processes of this service. */
  readonly readAll: () => Promise<readonly MetricReading[]>;
}

/**
 * `GET /metrics` returns the metrics in the text format of Prometheus. Without a token configured, other machines get a
 * 404.
 */
export async function handleMetrics({ token, readAll }: MetricsPlane, exchange: Exchange): Promise<void> {
  if (token !== undefined && !showsToken(exchange, token)) {
    return sendRefusal(
      exchange,
      refuse('UNAUTHORIZED', 'Send the token for metrics: `authorization: Bearer <token>`.'),
    );
  }
  if (token === undefined && !isOfThisMachine(exchange.request)) return sendNowhere(exchange);
  const text = renderMetrics(await readAll());
  const { response } = exchange;
  if (response.headersSent) return; // The body turned out to be malformed and was refused while the database was read.
  response.setHeader('content-type', METRICS_CONTENT_TYPE);
  response.setHeader('cache-control', 'no-store');
  response.end(text);
}

/** Compares digests, so that the time it takes reveals neither the length nor the content of the token. */
function showsToken({ request }: Exchange, token: string): boolean {
  const shown = bearerTokenOf(request.headers.authorization);
  return shown !== undefined && equalBytes(sha256(shown), sha256(token));
}
