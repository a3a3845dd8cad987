import type { Instance } from '#db/instance.ts';
import type { Pool } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { selectHeldCalls } from '#ledger/recovery/queries.ts';

/** What this process knows of its calls that hold money, against what the database says. */
interface OrphanedHolds {
  /** The call may hold from now on. */
  readonly begin: (callId: CallId) => void;
  /** It was refused or is settled, or it was given up and whatever it holds, now or later, is an orphaned hold. */
  readonly end: (callId: CallId) => void;
  /** Releases the holds of this process that none of its calls has. Gives how many there were. */
  readonly release: () => Promise<number>;
}

interface OrphanedHoldsOptions {
  readonly pool: Pool;
  readonly instance: Instance;
  /** Ends a call uncharged. */
  readonly releaseCall: (callId: CallId) => Promise<unknown>;
  readonly log: Log;
}

/**
 * The answer that placed a hold may be lost, and its statement may run long after everybody gave it up: a network that
 * stood still delivers it, a server that was stopped goes on. Only comparing what is held with who holds finds them all.
 */
export function createOrphanedHolds({ pool, instance, releaseCall, log }: OrphanedHoldsOptions): OrphanedHolds {
  const calls = new Set<CallId>();

  function releaseOne(callId: CallId): void {
    calls.add(callId); // Until it is released, so that no other look at the database finds it.
    const released = releaseCall(callId).catch((fault: unknown) => {
      log.error({ fault: describeFault(fault), callId }, 'a hold of no call could not be released');
    });
    void released.finally(() => calls.delete(callId));
  }

  return {
    begin: (callId) => void calls.add(callId),
    end: (callId) => void calls.delete(callId),
    release: async () => {
      const held = await instance.run((instanceId) => selectHeldCalls(pool, instanceId));
      const orphans = held.filter((callId) => !calls.has(callId));
      for (const callId of orphans) releaseOne(callId);
      if (orphans.length > 0) log.warn({ calls: orphans }, 'holds that no call has are released');
      return orphans.length;
    },
  };
}
