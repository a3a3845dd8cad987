import type { Ground, Stoppable } from '#app/process/ground.ts';
import { startExpiry } from '#developers/expiry.ts';
import { createForgetAddresses } from '#audit/forget.ts';
import { startSealer } from '#audit/sealer.ts';
import { startSessionExpiry } from '#calls/sessions/expiry.ts';
import { startRollUp } from '#calls/roll-up/roll-up.ts';
import { startCapAlerts, type TellOwner } from '#connections/alerts.ts';
import { startClockWatch } from '#db/clock/clock-watch.ts';
import { startSmallTableStatistics } from '#db/health/small-table-statistics.ts';
import type { Instance } from '#db/processes/instance.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Holds } from '#ledger/holds.ts';
import { startMonths } from '#ledger/months/months.ts';
import { reapHolds } from '#ledger/recovery/queries.ts';
import { startReaper } from '#ledger/recovery/reaper.ts';
import { startLedgerWatch } from '#ledger/watch/watch.ts';
import type { ForgetfulThrottle } from '#limits/throttle.ts';
import { createForgetSignIns } from '#people/session.ts';
import { reapSandboxHolds } from '#sandbox/holds/queries.ts';
import { startSandboxExpiry } from '#sandbox/wallets/expiry.ts';

interface UpkeepNeeds {
  readonly instance: Pick<Instance, 'isKeeper' | 'failedRenewals'>;
  readonly holds: Pick<Holds, 'replay' | 'releaseOrphans'>;
  readonly throttle: ForgetfulThrottle;
  /** Mails owners of wallets about their cap. */
  readonly tellOwner: TellOwner;
}

/** Starts the periodic jobs that run whether or not there are calls. */
export function startUpkeep(ground: Ground, needs: UpkeepNeeds): Stoppable {
  const { config, keys, pools, clock, log } = ground;
  const { instance, holds, throttle, tellOwner } = needs;
  const { isKeeper } = instance;
  const pool = pools.planes;
  const asKeeper =
    (release: (holdsMax: number) => Promise<number>) =>
    (holdsMax: number): Promise<number> => {
      if (isKeeper()) return release(holdsMax);
      // The reaper wants to know whether the database answers, and the lease asks it anyway.
      return instance.failedRenewals() === 0
        ? Promise.resolve(0)
        : Promise.reject(new Error('The lease is not renewed.'));
    };
  const jobs = [
    // Releases the holds of dead processes, live and sandbox. The spool is replayed first, so that a hold whose settlement
    // is on disk is charged and not released.
    startReaper({
      passes: [
        { prepare: holds.replay, release: asKeeper((holdsMax) => reapHolds(pools.upkeep, holdsMax)) },
        { release: asKeeper((holdsMax) => reapSandboxHolds(pools.sandbox, holdsMax)) },
        { release: holds.releaseOrphans },
      ],
      log,
      leaseMs: config.leaseMs,
    }),
    startSandboxExpiry(pools.sandbox, log, isKeeper),
    startSessionExpiry({ pool: pools.upkeep, log, keptMs: config.callLookupMs, isKeeper }),
    startLedgerWatch({ pool: pools.watch, clock, log }),
    startRollUp({ pool: pools.stats, log, isKeeper }),
    startMonths(pools.upkeep, log, isKeeper),
    startSmallTableStatistics(pools.upkeep, log, isKeeper),
    startClockWatch(pools.upkeep, log, isKeeper),
    startExpiry({
      db: pool,
      forget: [throttle.forget, createForgetSignIns(pool), createForgetAddresses(pool, config.retention.signInDays)],
      log,
    }),
    startSealer({ pool, key: keys.kept('audit-head'), clock: steadyClock, log }),
    startCapAlerts({ pool, tell: tellOwner, log }),
  ];
  return { stop: () => Promise.all(jobs.map(({ stop }) => stop())) };
}
