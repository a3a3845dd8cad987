import type { Clock } from '#kernel/clock.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { lineOf } from '#ledger/settlement/spool-record.ts';
import { type Landing, replayFiles } from '#ledger/settlement/spool-replay.ts';
import { createSpoolWriter, type SpoolWriter } from '#ledger/settlement/spool-writer.ts';

/**
 * Settlements that cannot reach the database now, on disk until they have. A file belongs to the process that made it
 * as long as it has the name that this process gave it; see docs/decisions/0009 for how others take it over.
 */
export interface Spool {
  /** Writes a settlement down. True once it is on disk; false where it cannot be, which is logged. */
  readonly keep: (settlement: Settlement) => Promise<boolean>;
  /** The settlement is in the database, or never will be. With the last one the files go. */
  readonly strike: (callId: CallId) => void;
  /** How many settlements of this process wait for the database, on disk or, where that is full, in memory. */
  readonly kept: () => number;
  /** How long the oldest of them has waited; 0 without any. */
  readonly oldestKeptMs: () => number;
  /** Lands what other processes have left. True when nothing is left of that, false when some of it must wait. */
  readonly replay: (land: (settlements: readonly Settlement[]) => Promise<Landing>) => Promise<boolean>;
  /** Writes nothing and removes nothing any more: what waits now is for the next process. */
  readonly close: () => Promise<void>;
}

interface SpoolOptions {
  /** Made when the first settlement must be kept. All processes that share it replay for each other. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Pending {
  readonly settlement: Settlement;
  readonly done: (isKept: boolean) => void;
}

export function createSpool({ directory, clock, log }: SpoolOptions): Spool {
  const writer = createSpoolWriter(directory);
  const waitingSinceMs = new Map<CallId, number>(); // The oldest first.
  const pending: Pending[] = [];
  let working: Promise<void> | undefined;
  let isClosed = false;

  const isDone = (): boolean => waitingSinceMs.size === 0 && writer.hasFiles() && !isClosed;

  /** One step at a time: what gathers while one group is written and synced goes in the next. */
  async function work(): Promise<void> {
    while (pending.length > 0 || isDone()) {
      if (pending.length > 0) await writeGroup(writer, pending.splice(0), log);
      else await removeFiles();
    }
    working = undefined; // In the same turn as the last look at what there is to do.
  }

  function wake(): void {
    if (working === undefined && (pending.length > 0 || isDone())) working = work();
  }

  async function removeFiles(): Promise<void> {
    try {
      await writer.removeAll();
      log.info('all settlements that were written down have reached the database');
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a file of settlements that have landed could not be removed');
    }
  }

  return {
    keep: (settlement) => {
      if (isClosed) return Promise.resolve(false);
      if (waitingSinceMs.size === 0) log.error('settlements are written down until the database takes them');
      waitingSinceMs.set(settlement.callId, clock.nowMs());
      const { promise, resolve } = Promise.withResolvers<boolean>();
      pending.push({ settlement, done: resolve });
      wake();
      return promise;
    },
    strike: (callId) => {
      waitingSinceMs.delete(callId);
      wake();
    },
    kept: () => waitingSinceMs.size,
    oldestKeptMs: () => {
      const [oldest] = waitingSinceMs.values();
      return oldest === undefined ? 0 : clock.nowMs() - oldest;
    },
    replay: (land) => replayFiles({ directory, isOwn: writer.isOwn, land, log }),
    close: async () => {
      isClosed = true;
      await working;
      await writer.close();
      if (waitingSinceMs.size === 0) return;
      log.error({ kept: waitingSinceMs.size }, 'settlements lie in the data directory and wait for the next start');
    },
  };
}

async function writeGroup(writer: SpoolWriter, group: readonly Pending[], log: Log): Promise<void> {
  let isKept = true;
  try {
    await writer.append(group.map(({ settlement }) => lineOf(settlement)).join(''));
  } catch (fault) {
    isKept = false;
    const calls = group.map(({ settlement }) => settlement.callId);
    log.error({ fault: describeFault(fault), calls }, 'settlements cannot be written down: only memory has them');
  }
  for (const { done } of group) done(isKept);
}
