import { type Pool, sqlStateOf } from '#db/pool/pool.ts';
import { endInstance, insertInstance, renewLease } from '#db/processes/queries.ts';
import { trustClock } from '#db/clock/queries.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { counter } from '#kernel/metrics/metrics.ts';
import { repeat } from '#kernel/time/repeat.ts';

/** How long a process may be silent before its holds are released (WA-10), unless `PURSER_LEASE_SECONDS` is set. */
export const LEASE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** The SQLSTATE with which the database refuses the holds of a fenced process. */
const FENCED = '55000';

const renewalsFailed = counter('purser_lease_renewals_failed_total', 'Renewals of a lease that failed.');
const leasesLost = counter(
  'purser_leases_lost_total',
  'Leases that ran out while their process lived: the holds of its calls were released.',
);

/** This process as an owner of holds. Every hold carries the id of the process that placed it. */
export interface Instance {
  /** Runs a statement under this process's id. If that id was fenced, takes a new one and runs the statement again. */
  readonly run: <Result>(statement: (instanceId: bigint) => Promise<Result>) => Promise<Result>;
  /** Stops the heartbeat and gives up the lease, so that the remaining holds are released at once. */
  readonly stop: () => Promise<void>;
  /**
   * Stops the heartbeat only. The remaining holds stay until the lease runs out, so that another process can settle them
   * from disk.
   */
  readonly leave: () => Promise<void>;
  /** The id of this process now. */
  readonly id: () => bigint;
  /** How many renewals of the lease have failed in a row. */
  readonly failedRenewals: () => number;
  /**
   * Returns true if this is the oldest live process on the database, which does the upkeep that one process can do for
   * all. Two may think so for a moment, so that work must be safe to do twice at once.
   */
  readonly isKeeper: () => boolean;
}

/**
 * Registers this process and renews its lease every second. A process that stalls for longer than its lease is fenced: the
 * reaper has released its holds, and no statement under the old id can place more. It takes a new id and goes on. The first
 * process after a pause also makes the database believe its clock (`trust_clock.sql`).
 */
export async function startInstance(pool: Pool, log: Log, leaseMs = LEASE_MS): Promise<Instance> {
  await trustClock(pool);
  let id = await insertInstance(pool, leaseMs);
  let replacing: Promise<void> | undefined;
  let failedRenewals = 0;
  let isKeeper = false;

  async function takeNewId(fencedId: bigint): Promise<void> {
    if (id !== fencedId) return; // Another statement noticed it first, and the new id is there.
    id = await insertInstance(pool, leaseMs);
    leasesLost.add();
    log.error(
      { fencedId: String(fencedId) },
      'the lease ran out: the holds of running calls were released, and this process has a new id',
    );
  }

  function replace(fencedId: bigint): Promise<void> {
    // Many statements may be refused at once. They share one new id.
    replacing ??= takeNewId(fencedId).finally(() => {
      replacing = undefined;
    });
    return replacing;
  }

  async function beat(): Promise<void> {
    const current = id;
    try {
      const renewed = await renewLease(pool, current, leaseMs);
      isKeeper = renewed?.is_oldest === true;
      if (renewed === undefined) await replace(current);
      failedRenewals = 0;
    } catch (fault) {
      failedRenewals += 1;
      renewalsFailed.add();
      log.warn({ fault: describeFault(fault) }, 'the lease could not be renewed');
    }
  }

  const { stop: leave } = repeat(beat, HEARTBEAT_MS);

  return {
    run: (statement) => {
      const current = id;
      return statement(current).catch(async (fault: unknown) => {
        if (sqlStateOf(fault) !== FENCED) throw fault;
        failpoint('instance.fenced');
        await replace(current);
        failpoint('instance.replaced');
        return statement(id);
      });
    },
    stop: async () => {
      await leave();
      await endInstance(pool, id);
    },
    leave,
    id: () => id,
    failedRenewals: () => failedRenewals,
    isKeeper: () => isKeeper,
  };
}
