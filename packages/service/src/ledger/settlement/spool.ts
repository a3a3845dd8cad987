import type { Clock } from '#kernel/time/clock.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { lineOf } from '#ledger/settlement/spool-record.ts';
import { type Landing, replayFiles } from '#ledger/settlement/spool-replay.ts';
import { createSpoolWriter, type SpoolWriter } from '#ledger/settlement/spool-writer.ts';

/**
 * Keeps settlements on disk until they have reached the database. A file belongs to the process that made it as long as it
 * has the name that this process gave it. `docs/decisions/0088-a-charge-that-was-told-is-booked-even-after-an-outage.md` says how other processes claim it.
 */
export interface Spool {
  /** Writes a settlement to disk. True once it is there. False if it cannot be written, which is logged. */
  readonly keep: (settlement: Settlement) => Promise<boolean>;
  /** Notes that the settlement is in the database, or never will be. The files are removed with the last one. */
  readonly crossOff: (callId: CallId) => void;
  /**
   * Notes that the settlement came after its hold was released. Its file stays when the last one has landed, and the next
   * replay of any process charges the call late (WA-10).
   */
  readonly leave: (callId: CallId) => void;
  /** How many settlements of this process wait for the database, on disk or, if the disk is full, in memory. */
  readonly kept: () => number;
  /** How long the oldest one has waited, in milliseconds. 0 if none waits. */
  readonly oldestKeptMs: () => number;
  /** Settles what other processes left on disk. True if nothing of it is left, false if some of it must wait. */
  readonly replay: (land: (settlements: readonly Settlement[]) => Promise<Landing>) => Promise<boolean>;
  /** Stops writing and removing. Settlements that wait now are for the next process. */
  readonly close: () => Promise<void>;
}

interface SpoolOptions {
  /**
   * The directory, which is created when the first settlement must be kept. All processes that share it replay for each
   * other.
   */
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
  const waitingSinceMs = new Map<CallId, number>(); // A map keeps its order, so the oldest is first.
  const pending: Pending[] = [];
  let working: Promise<void> | undefined;
  let isClosed = false;
  let isLeft = false; // A settlement in the files has not been booked.

  /** Returns true if every settlement has landed and files remain to be removed. */
  const isDone = (): boolean => waitingSinceMs.size === 0 && writer.hasFiles() && !isClosed;

  /**
   * Runs one step at a time. Settlements that arrive during one write and fsync go into the next, so that an outage under
   * load costs few fsyncs. A removal never runs beside a write, or it could remove a line that was just acknowledged.
   */
  async function work(): Promise<void> {
    while (pending.length > 0 || isDone()) {
      if (pending.length > 0) await writeGroup(writer, pending.splice(0), log);
      else await endFiles();
    }
    working = undefined; // No await since the last check of the loop, so nothing can have arrived unseen.
  }

  function wake(): void {
    if (working === undefined && (pending.length > 0 || isDone())) working = work();
  }

  /** Ends the files. By then all settlements have landed, but for those that are left: their files are for a replay. */
  function endFiles(): Promise<void> {
    const end = isLeft ? leaveFiles : removeFiles;
    isLeft = false; // At once: what is left from now on is in the next file.
    return end(writer, log);
  }

  return {
    keep: (settlement) => {
      if (isClosed) return Promise.resolve(false);
      if (waitingSinceMs.size === 0) log.error('settlements are written to disk until the database is back');
      waitingSinceMs.set(settlement.callId, clock.nowMs());
      const { promise, resolve } = Promise.withResolvers<boolean>();
      pending.push({ settlement, done: resolve });
      wake();
      return promise;
    },
    crossOff: (callId) => {
      waitingSinceMs.delete(callId);
      wake();
    },
    leave: (callId) => {
      isLeft = true;
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
      log.error({ kept: waitingSinceMs.size }, 'settlements remain in the data directory for the next start');
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
    log.error({ fault: describeFault(fault), calls }, 'settlements cannot be written to disk: they are only in memory');
  }
  for (const { done } of group) done(isKept);
}

async function leaveFiles(writer: SpoolWriter, log: Log): Promise<void> {
  log.warn('settlements whose holds were released stay on disk until they are charged late');
  await writer.leaveAll().catch((fault: unknown) => {
    log.warn({ fault: describeFault(fault) }, 'a settlement file could not be closed');
  });
}

async function removeFiles(writer: SpoolWriter, log: Log): Promise<void> {
  try {
    await writer.removeAll();
    log.info('all settlements on disk have reached the database');
  } catch (fault) {
    log.warn({ fault: describeFault(fault) }, 'a settlement file could not be removed after all of it had landed');
  }
}
