import path from 'node:path';
import type { Ground } from '#app/process/ground.ts';
import type { Instance } from '#db/processes/instance.ts';
import { selectDatabaseId } from '#db/processes/queries.ts';
import { markPort } from '#kernel/faults/failpoint.ts';
import { describeFault } from '#kernel/log.ts';
import { createHolds, type Holds } from '#ledger/holds.ts';
import { declareSpoolMetrics } from '#ledger/settlement/metrics.ts';
import { BACKLOG_LIMITS } from '#ledger/settlement/settling.ts';
import { createSpool, type Spool } from '#ledger/settlement/spool.ts';
import type { Channels } from '#ledger/turn/channel.ts';

interface LedgerNeeds {
  readonly instance: Instance;
  /** Channels to the ledger that this process shares with others. Undefined if it has one of its own. */
  readonly channels: Channels | undefined;
  /** Makes the budgets of keys count over all cells. */
  readonly overCells: (holds: Holds) => Holds;
}

/** Real money in this process. */
export interface OwnLedger {
  readonly holds: Holds;
  /** The files that keep settlements while the database cannot take them. */
  readonly spool: Spool;
  /** Ends the holds that nothing can use any more, then the lease. */
  readonly end: () => Promise<void>;
}

/** Settles first what an earlier process left on disk: the reaper, which starts later, could release its holds. */
export async function openLedger(ground: Ground, { instance, channels, overCells }: LedgerNeeds): Promise<OwnLedger> {
  const { config, pools, clock, log } = ground;
  // One directory for each database.
  const directory = path.join(config.dataDirectory, 'settlements', await selectDatabaseId(pools.upkeep));
  const spool = markPort('spool', createSpool({ directory, clock, log }));
  declareSpoolMetrics(spool);
  const own = { turns: channels ?? pools.openTurns(), upkeep: pools.upkeep };
  const holds = overCells(createHolds({ pools: own, backlog: BACKLOG_LIMITS, instance, spool, log }));
  await holds.replay();
  return {
    holds,
    spool,
    end: async () => {
      const endLease = spool.kept() === 0 ? instance.stop : instance.leave; // `leave` keeps the holds of settlements on disk.
      await holds.stop();
      await endLease().catch((fault: unknown) => {
        log.warn({ fault: describeFault(fault) }, 'the lease could not be given up and will expire');
      });
    },
  };
}
