import type { Ending, Hold, Lane } from '#gateway/lane.ts';
import { countEnding } from '#gateway/metrics.ts';
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
export function createCountedLane<M extends Mode>(lane: Lane<M>, { underWay, log }: Counting): Lane<M> {
  async function end<Charged extends Micros | undefined>(
    hold: Hold<M>,
    ending: Ending,
    endBy: (hold: Hold<M>, ending: Ending) => Promise<Charged>,
  ): Promise<Charged> {
    const { callId, model } = hold.call;
    const { isPastLimit, isUsageClamped } = ending;
    const isCounted = underWay.has(callId);
    if (isUsageClamped && isCounted) {
      log.warn({ callId, model: model.id, isPastLimit }, 'a provider contradicted itself or its limits');
    }
    let isEnded = true; // By a fault, too.
    try {
      failpoint('lane.ending');
      const charged = await endBy(hold, ending);
      failpoint('lane.ended');
      isEnded = charged !== undefined;
      if (isCounted && charged !== undefined) countEnding(hold, ending, charged);
      return charged;
    } finally {
      if (isEnded) underWay.delete(callId);
    }
  }

  return {
    ...lane,
    placeHold: (call, joined) =>
      lane.placeHold(call, joined).then((placed) => {
        if ('granted' in placed) underWay.add(call.callId);
        return placed;
      }),
    endHold: (hold, ending) => end(hold, ending, lane.endHold),
    endUnlessJoined: (hold, ending) => end(hold, ending, lane.endUnlessJoined),
  };
}
