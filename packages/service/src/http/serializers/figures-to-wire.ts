import { microsToWire } from '#kernel/values/micros.ts';
import type { Latency } from '#calls/stats/latency.ts';
import type { Figures } from '#calls/stats/stats.ts';

/** Sums of calls on the wire, as their owners see them: without what providers charged, which is the operator's business alone. */
export function figuresToWire(figures: Figures) {
  const { calls, chargedCalls, refusals, providerErrors, faults, charged, promptTokens, completionTokens } = figures;
  return {
    calls,
    chargedCalls,
    refusals,
    providerErrors,
    faults,
    promptTokens,
    completionTokens,
    chargedMicros: microsToWire(charged),
    firstByte: latencyToWire(figures.firstByte),
    total: latencyToWire(figures.total),
  };
}

function latencyToWire({ count, p50Ms, p95Ms }: Latency) {
  return { count, p50Ms: p50Ms ?? null, p95Ms: p95Ms ?? null };
}
