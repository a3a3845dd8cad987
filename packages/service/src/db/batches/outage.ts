import type { Waiter } from '#db/batches/batcher.ts';
import { isServerFault, sqlStateOf } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { type Indexed, IndexedSet } from '#kernel/work/indexed-set.ts';

/** How long callers wait for a statement that has not failed. After that they go on without it. */
const PATIENCE_MS = 1_000;
/** No room on the disk, or no working disk: reads and small writes may go on. Too many connections or too little memory pass. */
const NO_WRITES = /^(?:53100|58)/;
/** So long does a process count as unable to write after its last statement failed. It then gets calls again, and tries one. */
const NO_WRITES_MS = 10_000;

/**
 * Watches one channel of statements for an outage of the server, for callers that cannot wait for the end of it. All of it
 * works by callbacks: every call comes through here, and each promise less counts.
 */
export interface OutageWatch {
  /** Runs one statement of the channel. The way it ends shows whether the server is away. */
  readonly run: <Result>(statement: () => Promise<Result>) => Promise<Result>;
  /** Returns true from a fault of the server until the next statement succeeds. */
  readonly isAway: () => boolean;
  /** Returns true from a statement that a full or broken disk has refused until one succeeds, for ten seconds at most. */
  readonly takesNoWrites: () => boolean;
  /**
   * Begins the work and returns its result. If the server is away, or the work takes more than a second, it calls `late`
   * with the unfinished work and returns the result of that instead. `late` is called at most once.
   */
  readonly orLate: <Result>(
    begin: (waiter: Waiter<Result>) => void,
    late: (work: Promise<Result>) => Promise<Result>,
  ) => Promise<Result>;
}

/** A caller that waits for its statement. */
interface Caller extends Indexed {
  /** When it goes on without it. */
  untilMs: number;
  readonly giveUp: () => void;
}

/** `onFault` is called with each statement that fails, for whatever reason. */
export function createOutageWatch(onFault: () => void = () => undefined): OutageWatch {
  const { note, ...last } = createLastStatement();
  const waiting = new IndexedSet<Caller>();
  let timer: NodeJS.Timeout | undefined;

  /**
   * One timer serves all callers, and it keeps running when nobody waits any more. A timer for each call, started and
   * stopped, would cost as much as the rest of its wait.
   */
  function giveUpOverdue(): void {
    timer = undefined;
    const nowMs = steadyClock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const caller of waiting.all()) {
      if (caller.untilMs > nowMs) nextMs = Math.min(nextMs, caller.untilMs);
      else if (waiting.delete(caller)) caller.giveUp();
    }
    if (Number.isFinite(nextMs)) lookIn(nextMs - nowMs);
  }

  function lookIn(ms: number): void {
    timer ??= setTimeout(giveUpOverdue, ms).unref();
  }

  function noteFault(fault: unknown): void {
    onFault();
    if (!isServerFault(fault)) return;
    note(fault);
    // Nobody waits out their second for a server that is known to be away.
    for (const caller of waiting.all()) if (waiting.delete(caller)) caller.giveUp();
  }

  return {
    run: watchedRun(() => note(undefined), noteFault),
    ...last,
    orLate: <Result>(begin: (waiter: Waiter<Result>) => void, late: (work: Promise<Result>) => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        let work: PromiseWithResolvers<Result> | undefined;
        const caller: Caller = {
          place: -1,
          untilMs: 0,
          giveUp: () => {
            work = Promise.withResolvers();
            resolve(late(work.promise));
          },
        };
        begin({
          resolve: (result) => {
            if (work !== undefined) return work.resolve(result);
            waiting.delete(caller);
            resolve(result);
          },
          reject: (fault) => {
            if (work !== undefined) return work.reject(fault);
            waiting.delete(caller);
            reject(fault); // A failure in time is an answer too: the caller gets it, and `late` is not called.
          },
        });
        if (last.isAway()) return caller.giveUp();
        caller.untilMs = steadyClock.nowMs() + PATIENCE_MS;
        waiting.add(caller);
        lookIn(PATIENCE_MS);
      }),
  };
}

/** What it calls is made once: a call alone waits for two statements. */
function watchedRun(onSuccess: () => void, onFault: (fault: unknown) => void): OutageWatch['run'] {
  const succeeded = <Result>(result: Result): Result => {
    onSuccess();
    return result;
  };
  const failed = (fault: unknown): never => {
    onFault(fault);
    throw fault;
  };
  return (statement) => statement().then(succeeded, failed);
}

/** How the last statement of a channel ended. */
function createLastStatement() {
  let isAway = false;
  let refusedAtMs: number | undefined;
  return {
    /** `fault`: the server's, or undefined if the statement succeeded. */
    note: (fault: unknown): void => {
      isAway = fault !== undefined;
      refusedAtMs = NO_WRITES.test(sqlStateOf(fault) ?? '') ? steadyClock.nowMs() : undefined;
    },
    isAway: (): boolean => isAway,
    takesNoWrites: (): boolean => refusedAtMs !== undefined && steadyClock.nowMs() - refusedAtMs < NO_WRITES_MS,
  };
}
