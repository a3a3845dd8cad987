import type { EndedHold, Ending, Hold, PlacedHold } from '#gateway/call/lane.ts';
import { countEnding } from '#gateway/lanes/metrics.ts';
import type { CallId, Mode } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

/** The calls that hold money now, whether or not their caller is still there. A process that stops waits for them. */
export interface RunningCalls {
  readonly count: () => number;
  readonly begin: <M extends Mode>(hold: Hold<M>) => PlacedHold<M>;
  /** Counts the call's end once its settlement resolves, and logs a provider that contradicted itself. */
  readonly end: <M extends Mode>(hold: Hold<M>, ending: Ending, settling: Promise<EndedHold>) => Promise<EndedHold>;
}

export function createRunningCalls(log: Log): RunningCalls {
  const running = new Set<CallId>();
  return {
    count: () => running.size,
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
          running.delete(callId);
          if (isCounted) countEnding(hold, ending, ended.charged);
          return ended;
        },
        (fault: unknown) => {
          running.delete(callId); // Nothing will end it now, so nobody should wait for it.
          throw fault;
        },
      );
    },
  };
}
