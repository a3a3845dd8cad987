import { costOf } from '#catalogue/price.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import type { EndedHold, Ending, Hold, PlacedHold } from '#gateway/call/lane.ts';
import type { AppId, CallId, Mode } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { counter, labelledCounter } from '#kernel/metrics/metrics.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';

/** The calls that hold money now, whether or not their caller is still there. A process that stops waits for them. */
export interface RunningCalls {
  readonly count: () => number;
  /**
   * Counts a plain call towards those of its app in this process, before its hold is placed. False if the app has as many as it
   * may have (CC-18). Their answers are read whole, so their number bounds what they take of memory and time.
   */
  readonly admit: (call: ChatCall) => boolean;
  /** Takes back `admit` for a call that got no hold. */
  readonly dismiss: (call: ChatCall) => void;
  readonly begin: <M extends Mode>(hold: Hold<M>) => PlacedHold<M>;
  /** Counts the call's end once its settlement resolves, and logs a provider that contradicted itself. */
  readonly end: <M extends Mode>(hold: Hold<M>, ending: Ending, settling: Promise<EndedHold>) => Promise<EndedHold>;
}

export function createRunningCalls(log: Log): RunningCalls {
  const running = new Set<CallId>();
  const plainCalls = new Map<AppId, number>(); // Only of apps that have any.

  function dismiss({ isStream, app: { appId } }: ChatCall): void {
    if (isStream) return;
    const left = (plainCalls.get(appId) ?? 0) - 1;
    if (left > 0) plainCalls.set(appId, left);
    else plainCalls.delete(appId);
  }

  function leave(call: ChatCall): void {
    if (running.delete(call.callId)) dismiss(call);
  }

  return {
    count: () => running.size,
    admit: ({ isStream, app: { appId, limits } }) => {
      if (isStream) return true;
      const count = plainCalls.get(appId) ?? 0;
      if (count >= limits.maxCallsPerApp) return false;
      plainCalls.set(appId, count + 1);
      return true;
    },
    dismiss,
    begin: (hold) => {
      running.add(hold.call.callId);
      return { kind: 'placed', hold };
    },
    end: (hold, ending, settling) => {
      const { callId, model } = hold.call;
      const { isPastLimit, isUsageClamped } = ending;
      const isCounted = running.has(callId); // A settlement that comes again is counted once.
      if (isUsageClamped && isCounted) {
        log.warn({ callId, model: model.id, isPastLimit }, 'a provider contradicted itself or its limits');
      }
      return settling.then(
        (ended) => {
          if (ended.isJoined === true) return ended; // It goes on, until its answer is kept.
          leave(hold.call);
          if (isCounted) countEnding(hold, ending, ended.charged);
          return ended;
        },
        (fault: unknown) => {
          leave(hold.call); // Nothing will end it now, so nobody should wait for it.
          throw fault;
        },
      );
    },
  };
}

/** Returns what handles a hold that could not be placed because of a fault. */
export function dismissing({ dismiss }: RunningCalls, call: ChatCall): (fault: unknown) => never {
  return (fault) => {
    dismiss(call);
    throw fault;
  };
}

const MODES = ['live', 'sandbox'] as const satisfies readonly Mode[];
const OUTCOMES = ['answered', 'abandoned', 'failed'] as const satisfies readonly Ending['outcome'][];

const calls = labelledCounter('purser_calls_total', 'Calls that held money and have ended, by how.', {
  mode: MODES,
  outcome: OUTCOMES,
});
const chargedMicros = labelledCounter('purser_charged_micros_total', 'What calls were charged, in micros.', {
  mode: MODES,
});
const costMicros = counter(
  'purser_provider_cost_micros_total',
  'What providers took for live calls by the prices of the catalogue, in micros: their usage without the margin.',
);
const overruns = counter('purser_overruns_total', 'Calls for which a provider reported more than was held.');
const overrunMicros = counter('purser_overrun_micros_total', 'What providers reported above holds, in micros.');

/** Counts calls whose reported usage contradicted itself. The nearest usage that does not was taken. */
const usageClamped = counter('purser_usage_clamped_total', 'Calls whose reported usage contradicted itself.');
/** Answers that ran past the limit that the provider was sent (WA-07). */
const outputsCut = counter('purser_outputs_cut_total', 'Answers cut because they ran past their output limit.');
/** Counts a call that has ended. */
function countEnding({ mode, granted, call }: Hold<Mode>, ending: Ending, charged: Micros): void {
  calls.of({ mode, outcome: ending.outcome }).add();
  chargedMicros.of({ mode }).add(microsToWire(charged));
  if (ending.isUsageClamped) usageClamped.add();
  if (ending.isPastLimit) outputsCut.add();
  if (mode !== 'live') return;
  // Before the hold bounds the charge: what the provider takes does not depend on it.
  const served = ending.charge > 0n && call.upstreams.find(({ price }) => price.priceId === ending.priceId);
  if (served) costMicros.add(Number(costOf(served.price, ending.charge)));
  if (ending.isEstimated || ending.charge <= granted) return;
  overruns.add();
  overrunMicros.add(Number(ending.charge - granted));
}
