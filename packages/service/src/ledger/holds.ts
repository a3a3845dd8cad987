import { createBatcher } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '#kernel/hold.ts';
import type { Log } from '#kernel/log.ts';
import type { Micros } from '#kernel/micros.ts';
import { placeHolds } from '#ledger/hold/place.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { type BacklogLimits, createSettling, type SettledCall } from '#ledger/settlement/settling.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import { createOrphanedHolds } from '#ledger/recovery/orphaned-holds.ts';

/** The holds of real wallets: two lanes of batched statements, safe to repeat after a lost connection. */
export interface Holds {
  /**
   * Sets money aside. Throws, having set nothing aside, when the database stays out of reach, and while settlements
   * that wait for it are too many or too old.
   */
  readonly place: (request: HoldRequest) => Promise<HoldAnswer>;
  /**
   * Ends a call, once: captures its charge, frees the rest, keeps its receipt. In an outage of the database it answers
   * when the settlement is on disk, with what will be charged of the `granted` hold.
   */
  readonly settle: (settlement: Settlement, granted: Micros) => Promise<SettledCall>;
  /** Releases holds of this process that none of its calls has, see `recovery/orphaned-holds.ts`. Gives how many there were. */
  readonly releaseOrphans: () => Promise<number>;
  /** Settles what processes left on disk. True when nothing of it waits, so that holds of the dead may be released. */
  readonly replay: () => Promise<boolean>;
  /** Leaves the settlements that still wait on disk, for the next process. Call before the pools end. */
  readonly stop: () => Promise<void>;
}

interface HoldPools {
  readonly reserve: Pool;
  readonly settle: Pool;
}

interface HoldOptions {
  readonly pools: HoldPools;
  readonly instance: Instance;
  readonly spool: Spool;
  readonly backlog: BacklogLimits;
  readonly log: Log;
}

const BATCH_MAX = 256;
const BEHIND = 'Too many settlements wait for the database, or for too long.';
const ENDED_UNTOLD = 'A hold was released before its call heard of it: its process was taken for dead.';
const PLACE_RETRIES_MAX = 5; // Half a second without a database; then the caller hears of it.

export function createHolds({ pools, instance, spool, backlog, log }: HoldOptions): Holds {
  const settling = createSettling({ pool: pools.settle, spool, log, onEnd: (callId) => orphans.end(callId) });
  const orphans = createOrphanedHolds({ pool: pools.settle, instance, releaseCall: settling.release, log });
  const placing = createBatcher<HoldRequest, HoldAnswer>({
    run: (requests) => placeAll(pools.reserve, instance, requests),
    itemsMax: BATCH_MAX,
    retriesMax: PLACE_RETRIES_MAX,
    resourceOf: ({ appId, userId }) => `${appId} ${userId}`, // The wallet, whose lock another may have.
  });

  return {
    place: (request) => {
      const { callId, least, most } = request;
      assert(least > 0n && least <= most, 'a hold has a positive range');
      if (settling.isBehind(backlog)) return Promise.reject(new Error(BEHIND));
      orphans.begin(callId);
      failpoint('hold.place-queued');
      return new Promise((resolve, reject) => {
        placing.hand(request, {
          resolve: (answer) => {
            failpoint('hold.place-answered');
            if (answer.outcome !== 'granted') orphans.end(callId);
            resolve(answer);
          },
          reject: (fault) => {
            orphans.end(callId); // It may hold all the same, now or later.
            reject(fault);
          },
        });
      });
    },
    settle: settling.settle,
    releaseOrphans: orphans.release,
    replay: settling.replay,
    stop: settling.stop,
  };
}

async function placeAll(
  pool: Pool,
  instance: Instance,
  requests: readonly HoldRequest[],
): Promise<readonly HoldAnswer[]> {
  failpoint('hold.reserve-wanted');
  const rows = await instance.run((instanceId) => placeHolds(pool, instanceId, requests));
  failpoint('hold.reserved');
  return rows.map((answer) => {
    if (answer.outcome === 'call_ended') throw new Error(ENDED_UNTOLD);
    return holdAnswerOf(answer);
  });
}
