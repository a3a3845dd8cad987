import type { SteadyClock } from '#kernel/time/clock.ts';
import type { AppId, KeyId, Mode } from '#kernel/values/ids.ts';
import { BOUNDS_MS, BUCKETS } from '#calls/stats/latency.ts';
import { statsDropped } from '#calls/stats/metrics.ts';
import type { StatsOutcome } from '#calls/stats/outcome.ts';
import type { CallSum, KeySum } from '#calls/stats/queries.ts';

/** A call that has ended, of a known key. */
export interface EndedCall {
  readonly appId: AppId;
  readonly keyId: KeyId;
  readonly mode: Mode;
  /** The model. It is undefined if the call was refused before it was known. */
  readonly model: string | undefined;
  readonly outcome: StatsOutcome;
  readonly charged: bigint;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /**
   * The milliseconds from the call's arrival to the first of the answer. The next field is those to its end. Both are
   * undefined if the call was not answered.
   */
  readonly firstByteMs: number | undefined;
  readonly totalMs: number | undefined;
}

/** Sums of calls in memory. */
interface CallSums {
  readonly note: (call: EndedCall) => void;
  /** Takes the oldest sums away. Undefined when there are none. */
  readonly takeOldest: () => TakenSums | undefined;
}

/** Sums in the order of the tables' keys, and when the first call of theirs ended. */
interface TakenSums {
  readonly begunMs: number;
  readonly calls: CallSum[];
  readonly keys: KeySum[];
}

/** Calls of this time are summed together. Then new sums begin, so that those of an outage of the database keep their hour. */
const SLOT_MS = 300_000;
/** Groups of calls that wait while the database takes nothing, some 5 MB. Calls of further groups are counted as dropped. */
const WAITING_MAX = 10_000;

/** The sums of some minutes, by the names of their groups. */
interface Slot {
  readonly begunMs: number;
  readonly calls: Map<string, CallSum>;
  readonly keys: Map<string, KeySum>;
}

export function createCallSums(clock: SteadyClock): CallSums {
  /** The slots by number, the oldest first. */
  const slots = new Map<number, Slot>();
  let waiting = 0;

  function slotNow(): Slot {
    const nowMs = clock.nowMs();
    const number = Math.floor(nowMs / SLOT_MS);
    let slot = slots.get(number);
    if (slot === undefined) {
      slot = { begunMs: nowMs, calls: new Map(), keys: new Map() };
      slots.set(number, slot);
    }
    return slot;
  }

  /** Begins the sum of a group. Undefined if too many groups wait. */
  function begun<Sum>(sums: Map<string, Sum>, name: string, sum: Sum): Sum | undefined {
    if (waiting >= WAITING_MAX) return undefined;
    waiting += 1;
    sums.set(name, sum);
    return sum;
  }

  return {
    note: (call) => {
      const { appId, keyId, mode, outcome } = call;
      const slot = slotNow();
      const model = call.model ?? '';
      const name = `${appId} ${mode} ${model} ${outcome}`;
      const sum = slot.calls.get(name) ?? begun(slot.calls, name, emptyCalls(call, model));
      if (sum === undefined) statsDropped.add();
      else addCall(sum, call);
      const nameByKey = `${appId} ${mode} ${keyId}`;
      const byKey = slot.keys.get(nameByKey) ?? begun(slot.keys, nameByKey, emptyKey(call));
      if (byKey !== undefined) addToKey(byKey, call);
    },
    takeOldest: () => {
      for (const [number, { begunMs, calls, keys }] of slots) {
        slots.delete(number);
        waiting -= calls.size + keys.size;
        return { begunMs, calls: inOrder(calls), keys: inOrder(keys) };
      }
      return undefined;
    },
  };
}

/**
 * Sorts in the order of the tables' keys, which are `app mode model outcome`, by code unit as the database compares
 * them.
 */
function inOrder<Sum>(sums: ReadonlyMap<string, Sum>): Sum[] {
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

function emptyCalls({ appId, mode, outcome }: EndedCall, model: string): CallSum {
  return {
    appId,
    mode,
    model,
    outcome,
    calls: 0,
    charged: 0n,
    promptTokens: 0,
    completionTokens: 0,
    firstByte: undefined,
    total: undefined,
  };
}

function emptyKey({ appId, mode, keyId }: EndedCall): KeySum {
  return { appId, mode, keyId, calls: 0, chargedCalls: 0, charged: 0n };
}

function addCall(sum: CallSum, call: EndedCall): void {
  const { mode, outcome, charged, promptTokens, completionTokens, firstByteMs, totalMs } = call;
  const hasReceipt = mode === 'live' && outcome === 'charged';
  if (!hasReceipt) {
    sum.calls += 1;
    sum.charged += charged;
    sum.promptTokens += promptTokens;
    sum.completionTokens += completionTokens;
  }
  if (firstByteMs !== undefined) count((sum.firstByte ??= emptyBuckets()), firstByteMs);
  if (totalMs !== undefined) count((sum.total ??= emptyBuckets()), totalMs);
}

function addToKey(sum: KeySum, { outcome, charged }: EndedCall): void {
  sum.calls += 1;
  sum.charged += charged;
  if (outcome === 'charged') sum.chargedCalls += 1;
}

function emptyBuckets(): number[] {
  return Array.from({ length: BUCKETS }, () => 0);
}

function count(buckets: number[], ms: number): void {
  const bucket = bucketOf(ms);
  buckets[bucket] = (buckets[bucket] ?? 0) + 1;
}

/** The bucket of a duration. */
export function bucketOf(ms: number): number {
  let bucket = 0;
  while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] ?? 0)) bucket += 1;
  return bucket;
}
