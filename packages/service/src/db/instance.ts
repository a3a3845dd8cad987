import { type Pool, sqlStateOf } from '#db/pool.ts';
import { endInstance, insertInstance, renewLease } from '#db/queries.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/** How long a process may be silent before its holds are given back (WA-10), where the settings say nothing else. */
export const LEASE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** The SQLSTATE with which the database refuses holds of a fenced process. */
const FENCED = '55000';

/** This process as an owner of holds. */
export interface Instance {
  /** Runs a statement that places holds under this process's id, and again under a new one when that was fenced. */
  readonly run: <Result>(statement: (instanceId: bigint) => Promise<Result>) => Promise<Result>;
  /** Stops the heartbeat and gives up the lease, so that what is still held is released at once. */
  readonly stop: () => Promise<void>;
  /** Stops the heartbeat alone: what is still held stays so for a lease, for someone else to settle. */
  readonly leave: () => Promise<void>;
}

/**
 * Registers this process and renews its lease every second. A process that was stopped for longer than its lease finds
 * itself fenced: its holds are gone, it takes a new id and serves on.
 */
export async function startInstance(pool: Pool, log: Log, leaseMs = LEASE_MS): Promise<Instance> {
  let id = await insertInstance(pool, leaseMs);
  let replacing: Promise<void> | undefined;
  let beating: Promise<void> | undefined;

  async function takeNewId(fencedId: bigint): Promise<void> {
    if (id !== fencedId) return;
    id = await insertInstance(pool, leaseMs);
    log.error({ fencedId: String(fencedId) }, 'the lease ran out: holds of running calls are released, going on anew');
  }

  function replace(fencedId: bigint): Promise<void> {
    replacing ??= takeNewId(fencedId).finally(() => {
      replacing = undefined;
    });
    return replacing;
  }

  async function beat(): Promise<void> {
    const current = id;
    try {
      if (!(await renewLease(pool, current, leaseMs))) await replace(current);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the lease could not be renewed');
    }
  }

  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
  }, HEARTBEAT_MS);

  async function leave(): Promise<void> {
    clearInterval(timer);
    await beating;
  }

  return {
    run: async (statement) => {
      const current = id;
      try {
        return await statement(current);
      } catch (fault) {
        if (sqlStateOf(fault) !== FENCED) throw fault;
        failpoint('instance.fenced');
        await replace(current);
        failpoint('instance.replaced');
        return statement(id);
      }
    },
    stop: async () => {
      await leave();
      await endInstance(pool, id);
    },
    leave,
  };
}
