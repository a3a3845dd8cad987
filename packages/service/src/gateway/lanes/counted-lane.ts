import type { EndedHold, Ending, Hold, Lane, UncountedLane } from '#gateway/call/lane.ts';
import { countEnding } from '#gateway/lanes/metrics.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { CallId, Mode } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Micros } from '#kernel/micros.ts';

interface Counting {
  /** Calls that hold money now, whether or not their caller is still there: a process that stops waits for them. */
  readonly underWay: Set<CallId>;
  readonly log: Log;
}

/** The lane, with its calls counted from their hold to its end, and what a provider did wrong told to the log. */
export function createCountedLane<M extends Mode>(lane: UncountedLane<M>, { underWay, log }: Counting): Lane<M> {
  function end<Charged extends Micros | undefined>(
    hold: Hold<M>,
    ending: Ending,
    { isUnkept, chargedBy }: { readonly isUnkept: boolean; readonly chargedBy: (ended: EndedHold) => Charged },
  ): Promise<Charged> {
    const { callId, model } = hold.call;
    const { isPastLimit, isUsageClamped } = ending;
    const isCounted = underWay.has(callId);
    if (isUsageClamped && isCounted) {
      log.warn({ callId, model: model.id, isPastLimit }, 'a provider contradicted itself or its limits');
    }
    failpoint('lane.ending');
    return lane.settle(hold, ending, isUnkept).then(
      (ended) => {
        failpoint('lane.ended');
        const charged = chargedBy(ended);
        if (charged !== undefined) underWay.delete(callId);
        if (isCounted && charged !== undefined) countEnding(hold, ending, charged);
        return charged;
      },
      (fault: unknown) => {
        underWay.delete(callId); // By a fault, too, it has ended.
        throw fault;
      },
    );
  }

  return {
    mode: lane.mode,
    placeHold: (call, joined) => {
      failpoint('lane.placing');
      return lane.place(call, joined).then((answer) => {
        failpoint('lane.placed');
        if ('earlier' in answer) return answer;
        const { outcome, granted } = answer;
        if (outcome !== 'granted') return lane.refusalOf(call, outcome);
        underWay.add(call.callId);
        return { mode: lane.mode, call, granted };
      });
    },
    endHold: (hold, ending) => end(hold, ending, ALWAYS),
    endUnlessJoined: (hold, ending) => end(hold, ending, UNLESS_JOINED),
    providerOf: lane.providerOf,
    offerSlot: lane.offerSlot,
  };
}

const ALWAYS = { isUnkept: false, chargedBy: ({ charged }: EndedHold) => charged } as const;
const UNLESS_JOINED = {
  isUnkept: true,
  chargedBy: ({ charged, isJoined }: EndedHold) => (isJoined === true ? undefined : charged),
} as const;
