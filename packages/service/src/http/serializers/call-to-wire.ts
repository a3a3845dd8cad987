import type { CallTrace } from '#calls/traces/traces.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';

/** A trace on the wire. What is unknown is null, so that every trace has the same fields. */
export function traceToWire({ appId: _, ...trace }: CallTrace) {
  const { endedAtMs, userId, callId, model, isStream, wire, session, status, ...ended } = trace;
  const { code, param, message, failure, charged, ...rest } = ended;
  return {
    ...rest,
    at: isoOf(endedAtMs),
    userId: userId ?? null,
    callId: callId ?? null,
    model: model ?? null,
    stream: isStream,
    wire: wire ?? null,
    session: session ?? null,
    status: status ?? null,
    code: code ?? null,
    param: param ?? null,
    message: message ?? null,
    failure: failure?.kind ?? null,
    chargedMicros: microsToWire(charged),
  };
}

/** Converts a trace with its upstream, which only operators may see. */
export function operatorsTraceToWire(trace: CallTrace) {
  const { provider, providerModel, status } = trace.failure ?? {};
  const isKnown = provider !== undefined && providerModel !== undefined;
  const upstream = isKnown ? { provider, providerModel, status: status ?? null } : null;
  return { appId: trace.appId, ...traceToWire(trace), upstream };
}

/** A receipt on the wire, for apps and their owners: without who served the call (CC-21). What is unknown is null. */
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
