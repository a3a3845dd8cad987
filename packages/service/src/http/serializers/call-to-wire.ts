import type { CallTrace } from '#calls/traces/traces.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';

/** A trace with the names that answers have for its parts. */
export function shownTrace({ endedAtMs: atMs, failure, ...trace }: CallTrace) {
  return { ...trace, atMs, failure: failure?.kind };
}

/** A trace with its upstream, which only operators may see. */
export function operatorsTrace(trace: CallTrace) {
  const { provider, providerModel, status } = trace.failure ?? {};
  const isKnown = provider !== undefined && providerModel !== undefined;
  return { ...shownTrace(trace), upstream: isKnown ? { provider, providerModel, status } : undefined };
}

/** A receipt on the wire, for apps: without who served the call (CC-21). What is unknown is null. */
export function receiptToWire(receipt: CallReceipt) {
  const {
    appId: _,
    upstream: _upstream,
    searches,
    atMs,
    isEstimated,
    correlationId,
    model,
    price,
    held,
    charged,
    released,
    ...rest
  } = receipt;
  return {
    ...rest,
    correlationId: correlationId ?? null,
    model: model ?? null,
    at: isoOf(atMs),
    estimated: isEstimated,
    ...(searches === undefined ? {} : { searches }),
    price: price ?? null,
    heldMicros: microsToWire(held),
    chargedMicros: microsToWire(charged),
    releasedMicros: microsToWire(released),
  };
}
