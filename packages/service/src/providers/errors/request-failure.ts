import { type ErrorResponse, RequestError, type RequestErrorKind } from '@purser/upstream-http/client.ts';
import { UpstreamError, type UpstreamErrorKind } from '#providers/port/provider.ts';

const KINDS: Readonly<Record<RequestErrorKind, UpstreamErrorKind>> = {
  connection: 'outage',
  // Somewhere between here and the provider, bytes were lost or another program answered.
  protocol: 'outage',
  body: 'malformed',
  timeout: 'timeout',
  unsent: 'unsent',
  aborted: 'given-up',
  invalid: 'outage',
  closed: 'outage',
};

/**
 * The provider's failure behind a failed request. Every adapter passes what the HTTP client throws through this function,
 * because the gateway knows no other errors of a provider than `UpstreamError`. Other faults are returned as they are.
 */
export function upstreamFailureOf(fault: unknown): unknown {
  if (!(fault instanceof RequestError)) return fault;
  return new UpstreamError(KINDS[fault.kind], fault.message, { cause: fault.cause });
}

/** How long a provider asks us to wait, in whole seconds, as it said: unbounded. */
export function retryAfterSecondsOf(response: ErrorResponse | undefined): number | undefined {
  return response?.retryAfterMs === undefined ? undefined : Math.ceil(response.retryAfterMs / 1_000);
}
