import { assert } from '#kernel/faults/assert.ts';
import { type AppId, type CallId, parseCallId } from '#kernel/values/ids.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { granted } from '#http/planes/planes.ts';
import type { CallTrace, TraceReader } from '#calls/traces/traces.ts';
import type { AppUsage, CallReceipt } from '#calls/usage/report.ts';

/** What finds calls, for owners and operators. */
export interface CallFinder {
  readonly appUsage: AppUsage;
  readonly traces: TraceReader;
}

/**
 * Finds calls by one of the two ids of an answer: their receipts, and what became of them (CC-19). A charged call whose trace
 * was lost with its process still has its receipt. `appId` undefined: of all apps.
 */
export async function findCalls(
  { appUsage, traces }: CallFinder,
  appId: AppId | undefined,
  asked: { readonly correlationId?: string | undefined; readonly callId?: string | undefined },
): Promise<{ readonly receipts: readonly CallReceipt[]; readonly traces: readonly CallTrace[] }> {
  const { correlationId } = asked;
  if ((correlationId === undefined) === (asked.callId === undefined)) {
    return granted(refuse('BAD_REQUEST', 'Send either `correlationId` or `callId`.', { param: 'correlationId' }));
  }
  if (correlationId !== undefined) {
    const found = [appUsage.receipts(appId, correlationId), traces.find({ correlationId }, appId)] as const;
    const [receipts, all] = await Promise.all(found);
    return { receipts, traces: all };
  }
  const callId = parseCallId(asked.callId ?? '');
  if (callId === undefined) return { receipts: [], traces: [] };
  const [receipt, all] = await Promise.all([appUsage.receipt(appId, callId), traces.find({ callId }, appId)]);
  return { receipts: receipt === undefined ? [] : [receipt], traces: all };
}

/** One call: what is known of it by its trace, by its receipt, or by both. */
export interface KnownCall {
  readonly trace: CallTrace | undefined;
  readonly receipt: CallReceipt | undefined;
}

/** The calls of any app with this id. */
export async function knownCalls(
  finder: CallFinder,
  name: { readonly callId: CallId } | { readonly correlationId: string },
): Promise<readonly KnownCall[]> {
  const { receipts, traces } = await findCalls(finder, undefined, name);
  return eachOnce(traces, receipts);
}

/** Each call once: a trace with its receipt, and receipts whose trace is gone. */
export function eachOnce(traces: readonly CallTrace[], receipts: readonly CallReceipt[]): readonly KnownCall[] {
  const byCall = new Map(receipts.map((receipt) => [receipt.callId, receipt]));
  const seen = new Set(traces.map(({ callId }) => callId));
  return [
    ...traces.map((trace) => ({ trace, receipt: trace.callId && byCall.get(trace.callId) })),
    ...receipts.filter(({ callId }) => !seen.has(callId)).map((receipt) => ({ trace: undefined, receipt })),
  ];
}

/** A call in few words, for a list of what was found. Undefined values are not known. */
export function foundCallOf({ trace, receipt }: KnownCall) {
  const known = trace ?? receipt;
  assert(known !== undefined, 'a known call has a trace or a receipt');
  return {
    appId: known.appId,
    userId: known.userId,
    callId: known.callId,
    correlationId: known.correlationId,
    model: known.model,
    outcome: known.outcome,
    mode: trace?.mode ?? ('live' as const),
    atMs: trace?.endedAtMs ?? receipt?.atMs ?? 0,
    charged: receipt?.charged ?? known.charged,
  };
}
