import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { gauge } from '#kernel/metrics/metrics.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { checkChanges, type Difference, type LedgerCheck } from '#ledger/check/check.ts';
import { noteCheck } from '#ledger/check/history.ts';
import { checkedWallets, checkPasses } from '#ledger/watch/metrics.ts';
import { pauseAfter } from '#ledger/watch/pause.ts';
import { beginCheck, endCheck, selectLastCheck } from '#ledger/watch/queries.ts';

const PERIOD_MS = 60_000;
/** The timers of different processes drift. A process that is a little early may still take its turn. */
const PERIOD_SHARE = 0.9;
/** These are enough to see what kind of fault it is. `purser ledger check` prints the rest. */
const DIFFERENCES_LOGGED_MAX = 20;
/** The limit for each statement of a pass. A wallet that was never checked before may have a long history. */
export const CHECK_STATEMENT_MS_MAX = 60_000;

interface WatchOptions {
  /** A pool for the watch alone, so that a pass never takes a connection from a call. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly periodMs?: number;
  /** Waits, or until the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface LedgerWatch {
  readonly stop: () => Promise<void>;
}

/**
 * Checks the changes in the ledger every minute (WA-09), page by page with pauses, so that calls do not feel it. Only one
 * of the processes on a database runs each pass; if a pass takes longer than a minute, another process begins one too, and
 * they share what is left. The result is stored in the database, so that the metrics of every process show the last pass. A
 * pass that fails is logged, and the next one tries again.
 */
export function startLedgerWatch(options: WatchOptions): LedgerWatch {
  const { pool, clock, log, periodMs = PERIOD_MS, pause = sleepUnless } = options;
  const stopping = new AbortController();
  let last = { ended_seconds: 0, differences: 0n };
  let durationSeconds = 0;
  declareGauges({ last: () => last, durationSeconds: () => durationSeconds });

  async function check(): Promise<void> {
    const begunMs = clock.nowMs();
    let resumedMs = begunMs;
    const result = await checkChanges(pool, async () => {
      const nowMs = clock.nowMs();
      const ms = pauseAfter({ pageMs: nowMs - resumedMs, passMs: nowMs - begunMs, periodMs });
      await pause(ms, stopping.signal);
      resumedMs = clock.nowMs();
      return !stopping.signal.aborted;
    });
    if (stopping.signal.aborted) return; // The pass is incomplete. Storing it would count unchecked wallets as right.
    const ms = clock.nowMs() - begunMs;
    await endCheck(pool, result.found);
    await noteCheck(pool, 'changes', result, ms);
    durationSeconds = ms / 1_000;
    report(result, log);
  }

  async function pass(): Promise<void> {
    try {
      if (await beginCheck(pool, Math.floor(periodMs * PERIOD_SHARE))) await check();
      last = await selectLastCheck(pool);
    } catch (fault) {
      checkPasses.of({ result: 'failed' }).add();
      log.warn({ fault: describeFault(fault) }, 'the ledger could not be checked');
    }
  }

  const passes = repeat(pass, periodMs);
  return {
    stop: async () => {
      stopping.abort();
      await passes.stop();
    },
  };
}

async function sleepUnless(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal, ref: false });
  } catch (fault) {
    if (!signal.aborted) throw fault;
  }
}

function report({ wallets, found, differences }: LedgerCheck, log: Log): void {
  checkedWallets.add(Number(wallets));
  checkPasses.of({ result: found === 0n ? 'clean' : 'differences' }).add();
  if (found === 0n) return;
  log.error(
    { found: String(found), differences: differences.slice(0, DIFFERENCES_LOGGED_MAX).map(inWords) },
    'THE LEDGER IS WRONG: run `purser ledger check`',
  );
}

function inWords({ rule, walletId, expected, found }: Difference): string {
  return `wallet ${walletId}: ${rule}: expected ${expected}, found ${found}`;
}

function declareGauges(watch: {
  readonly last: () => { readonly ended_seconds: number; readonly differences: bigint };
  readonly durationSeconds: () => number;
}): void {
  gauge({
    name: 'purser_ledger_differences',
    help: 'Differences that the last incremental ledger check found. Anything but 0 is an alarm.',
    across: 'max',
    read: () => Number(watch.last().differences),
  });
  gauge({
    name: 'purser_ledger_check_last_success_timestamp_seconds',
    help: 'When an incremental ledger check last finished, with or without differences.',
    across: 'max',
    read: () => watch.last().ended_seconds,
  });
  gauge({
    name: 'purser_ledger_check_duration_seconds',
    help: 'How long the last incremental ledger check took.',
    across: 'max',
    read: watch.durationSeconds,
  });
}
