import type { Instance } from '#db/processes/instance.ts';
import type { Pool } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type HeldCall, selectHeldCalls } from '#ledger/recovery/queries.ts';

type Call = Pick<HoldRequest, 'callId' | 'appId' | 'userId'>;

/** Compares the calls of this process that may hold money with the holds that the database has for it. */
interface OrphanedHolds {
  /** The call may have a hold from now on. Call it before the statement that places the hold. */
  readonly begin: (call: Call) => void;
  /** Names the wallet of a call that has begun. Undefined for a call that has ended or was never one. */
  readonly walletOf: (callId: CallId) => string | undefined;
  /** The call was refused, settled or given up. A hold that it still has, or gets later, is orphaned. */
  readonly end: (callId: CallId) => void;
  /** A statement that may have placed holds has failed, and may still take effect. */
  readonly doubt: () => void;
  /**
   * Releases the orphaned holds of this process. Returns how many there were. It looks only for a minute after a doubt, and
   * once a minute otherwise: a look reads all holds.
   */
  readonly release: () => Promise<number>;
}

interface OrphanedHoldsOptions {
  readonly pool: Pool;
  readonly instance: Instance;
  /** Ends a call without a charge. */
  readonly releaseCall: (callId: CallId) => Promise<unknown>;
  readonly log: Log;
}

/** A statement that comes later than this, out of a stalled network, is found by the next look. */
const DOUBT_MS = 60_000;
const LOOK_MS = 60_000;

/**
 * A hold can exist without its call. The answer to the statement that placed it may be lost. The statement may also run
 * long after its call was given up: a stalled network delivers it, or a stopped server continues. No timeout can tell when
 * that is over, so we compare the holds in the database with the running calls. A running call's hold is never orphaned,
 * however long the call takes.
 */
export function createOrphanedHolds({ pool, instance, releaseCall, log }: OrphanedHoldsOptions): OrphanedHolds {
  /** The calls, with the names of their wallets. */
  const calls = new Map<CallId, string>();
  /** The calls that end during a look, which may still show their holds. */
  const endedMeanwhile = new Set<CallId>();
  let doubtUntilMs = 0;
  let lookAtMs = 0;
  let isLooking = false;

  async function look(): Promise<readonly HeldCall[]> {
    isLooking = true;
    endedMeanwhile.clear();
    try {
      const held = await instance.run((instanceId) => selectHeldCalls(pool, instanceId));
      // Compared after the answer: a call that began meanwhile is in `calls` already.
      return held.filter(({ call_id: callId }) => !calls.has(callId) && !endedMeanwhile.has(callId));
    } finally {
      isLooking = false;
    }
  }

  function releaseOne(callId: CallId, walletId: bigint): void {
    calls.set(callId, `wallet ${walletId}`); // Counts as a call until it is released, so that the next pass does not release it again.
    const released = releaseCall(callId).catch((fault: unknown) => {
      log.error({ fault: describeFault(fault), callId }, 'an orphaned hold could not be released');
    });
    void released.finally(() => calls.delete(callId));
  }

  return {
    begin: ({ callId, appId, userId }) => void calls.set(callId, `${appId} ${userId}`),
    walletOf: (callId) => calls.get(callId),
    end: (callId) => {
      calls.delete(callId);
      if (isLooking) endedMeanwhile.add(callId);
    },
    doubt: () => {
      doubtUntilMs = steadyClock.nowMs() + DOUBT_MS;
    },
    release: async () => {
      const nowMs = steadyClock.nowMs();
      if (nowMs >= doubtUntilMs && nowMs < lookAtMs) return 0;
      const orphans = await look();
      lookAtMs = nowMs + LOOK_MS;
      for (const { call_id: callId, wallet_id: walletId } of orphans) releaseOne(callId, walletId);
      if (orphans.length > 0)
        log.warn({ calls: orphans.map(({ call_id: callId }) => callId) }, 'orphaned holds are released');
      return orphans.length;
    },
  };
}
