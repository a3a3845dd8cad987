import type { Upstream } from '#catalogue/catalogue.ts';
import type { Failure } from '#gateway/call/call-notes.ts';
import { catalogueCounter } from '#kernel/metrics/catalogue-metrics.ts';
import type { UpstreamError } from '#providers/port/provider.ts';

const failures = catalogueCounter(
  'purser_provider_failures_total',
  'Calls that a provider failed, by provider and kind.',
  ['provider', 'kind'],
);

/** Counts a failure, and says what logs and traces hold of it (CC-17). Call it once for each call that failed. `purser_upstream_calls_total` counts every try. */
export function noteFailure({ providerName, providerModel }: Upstream, { kind, status }: UpstreamError): Failure {
  failures.of([providerName, kind]).add();
  return { provider: providerName, providerModel, kind, status };
}
