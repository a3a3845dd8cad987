import { createBatcher, inOrderOf } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import { type Pool, STATEMENT_TIMEOUT_MS } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { HoldAnswer, HoldRequest } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { reserveHolds } from '#ledger/queries.ts';
import type { Settlement } from '#ledger/settlement.ts';
import { type BacklogLimits, createSettling, type SettledCall } from '#ledger/settling.ts';
import type { Spool } from '#ledger/spool.ts';

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
const PLACE_RETRIES_MAX = 5; // Half a second without a database; then the caller hears of it.

export function createHolds({ pools, instance, spool, backlog, log }: HoldOptions): Holds {
  const settling = createSettling({ pool: pools.settle, spool, log });
  const placing = createBatcher<HoldRequest, HoldAnswer>({
    run: (requests) => placeAll(pools.reserve, instance, requests),
    itemsMax: BATCH_MAX,
    retriesMax: PLACE_RETRIES_MAX,
    resourceOf: ({ appId, userId }) => `${appId} ${userId}`, // The wallet, whose lock another may have.
  });

  /** The statement may have run all the same, or may still: its hold is released once it can no longer appear. */
  function releaseLater(callId: CallId): void {
    setTimeout(() => {
      settling.release(callId).catch((fault: unknown) => {
        log.error({ fault: describeFault(fault), callId }, 'a hold in doubt could not be released');
      });
    }, 2 * STATEMENT_TIMEOUT_MS).unref();
  }

  return {
    place: async (request) => {
      assert(request.least > 0n && request.least <= request.most, 'a hold has a positive range');
      if (settling.isBehind(backlog)) throw new Error('Too many settlements wait for the database, or for too long.');
      try {
        failpoint('hold.place-queued');
        const answer = await placing.submit(request);
        failpoint('hold.place-answered');
        return answer;
      } catch (fault) {
        releaseLater(request.callId); // Whatever came last: an answer before it may have been lost.
        throw fault;
      }
    },
    settle: settling.settle,
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
  const rows = await instance.run((instanceId) => reserveHolds(pool, instanceId, requests));
  failpoint('hold.reserved');
  const answers = inOrderOf(requests, rows);
  return answers.map(({ outcome, granted }) => {
    assert(outcome !== 'call_ended', 'a call that has ended asks for no hold');
    return { outcome, granted: microsFromRow(granted) };
  });
}
