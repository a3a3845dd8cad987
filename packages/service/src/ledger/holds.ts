import type { Instance } from '#db/processes/instance.ts';
import { createOutageWatch } from '#db/batches/outage.ts';
import type { Pool } from '#db/pool/pool.ts';
import { assertionFault } from '#kernel/faults/assert.ts';
import type { HoldAnswer, HoldRequest } from '#kernel/calls/hold.ts';
import type { CallId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { type BacklogLimits, createSettling, type SettledCall } from '#ledger/settlement/settling.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import { createOrphanedHolds } from '#ledger/recovery/orphaned-holds.ts';
import type { Channels } from '#ledger/turn/channel.ts';
import { createOwnChannel, createTurns } from '#ledger/turn/turns.ts';

/**
 * The holds of real wallets. Every statement is safe to repeat after a lost connection.
 */
export interface Holds {
  /**
   * Places a hold. Throws if the database is out of reach for half a second. Also throws if too many settlements wait for
   * the database, or one has waited too long: calls that we may never charge must not pile up.
   */
  readonly place: (request: HoldRequest) => Promise<HoldAnswer>;
  /**
   * Ends a call, once: takes its charge, frees the rest of the hold and writes the receipt. In an outage of the database it
   * resolves when the settlement is on disk, with the amount that will be charged: at most the `granted` hold.
   */
  readonly settle: (settlement: Settlement, granted: Micros) => Promise<SettledCall>;
  /** Releases this process's orphaned holds, see `recovery/orphaned-holds.ts`. Returns how many there were. */
  readonly releaseOrphans: () => Promise<number>;
  /** Settles what processes left on disk. True if nothing is left there, so that the holds of dead processes may be released. */
  readonly replay: () => Promise<boolean>;
  /** Returns true if a full disk has just refused what a call writes. */
  readonly takesNoWrites: () => boolean;
  /** Stops and leaves waiting settlements on disk for the next process. Call it before the pools end. */
  readonly stop: () => Promise<void>;
}

interface HoldPools {
  /**
   * A pool with one connection, because there is one statement at a time, or channels that this process shares with
   * others.
   */
  readonly turns: Pool | Channels;
  /** The pool for what may not wait behind calls. */
  readonly upkeep: Pool;
}

interface HoldOptions {
  readonly pools: HoldPools;
  readonly instance: Instance;
  readonly spool: Spool;
  readonly backlog: BacklogLimits;
  readonly log: Log;
}

const BEHIND = 'Too many settlements wait for the database, or one has waited too long.';

export function createHolds({ pools, instance, spool, backlog, log }: HoldOptions): Holds {
  // The two need each other: a settled call no longer has a hold, and an orphaned hold is released by a settlement.
  const outage = createOutageWatch(() => orphans.doubt());
  const channels: Channels = isShared(pools.turns) ? pools.turns : [createOwnChannel(pools.turns)];
  const turns = createTurns({ channels, instance, run: outage.run, walletOf: (callId) => orphans.walletOf(callId) });
  const onEnd = (callId: CallId): void => orphans.end(callId);
  const settling = createSettling({ pool: pools.upkeep, outage, settleInTurn: turns.settle, spool, log, onEnd });
  const orphans = createOrphanedHolds({ pool: pools.upkeep, instance, releaseCall: settling.release, log });
  return {
    place: (request) => {
      const { callId, least, most } = request;
      if (least <= 0n || least > most) return Promise.reject(assertionFault('a hold has a positive range'));
      if (settling.isBehind(backlog)) return Promise.reject(new Error(BEHIND));
      orphans.begin(request); // Before the statement is sent, or the hold would look orphaned as soon as it exists.
      // One promise for the whole way: every call comes through here.
      return new Promise((resolve, reject) => {
        turns.place(request, {
          resolve: (answer) => {
            if (answer.kind !== 'granted') orphans.end(callId);
            resolve(answer);
          },
          reject: (fault) => {
            orphans.end(callId); // The statement may still succeed later, and then `releaseOrphans` finds the hold.
            reject(fault);
          },
        });
      });
    },
    settle: settling.settle,
    releaseOrphans: orphans.release,
    replay: settling.replay,
    takesNoWrites: outage.takesNoWrites,
    stop: settling.stop,
  };
}

const isShared = (turns: Pool | Channels): turns is Channels => Array.isArray(turns);
