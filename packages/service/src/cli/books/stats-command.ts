import { UsageError } from '#cli/terminal/command-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import { dateOf, epochMsOf, isoOf, steadyClock, systemClock } from '#kernel/time/clock.ts';
import { rebuildStats } from '#calls/rebuild/rebuild.ts';

const DAY = /^2\d{3}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
/** This day is before the first receipt. */
const FIRST_DAY = '2000-01-01';

interface Days {
  readonly from: Date;
  readonly to: Date;
}

/** Returns the days that `stats rebuild` makes again. Throws `UsageError`. */
export function readDays(
  { from: first = FIRST_DAY, to: end }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs = systemClock.nowMs(),
): Days {
  const from = dayOf('--from', first);
  const to = dayOf('--to', end ?? isoOf(nowMs + DAY_MS).slice(0, 10));
  if (from >= to) throw new UsageError('--from must be before --to, which is the day after the last one.');
  return { from, to };
}

function dayOf(option: string, text: string): Date {
  const ms = DAY.test(text) ? epochMsOf(text) : Number.NaN;
  if (Number.isNaN(ms) || !isoOf(ms).startsWith(text)) {
    throw new UsageError(`${option} must be a UTC day, such as 2026-11-30.`);
  }
  return dateOf(ms);
}

/** Makes the statistics of these days again and says what was read. */
export async function printRebuild(owner: Pool, days: Days): Promise<void> {
  const begunMs = steadyClock.nowMs();
  const { from, receipts, traces, days: replaced } = await rebuildStats(owner, days);
  if (from > days.from)
    console.log(`Receipts before ${isoOf(from.getTime()).slice(0, 10)} are in archives: those days stay as they are.`);
  const seconds = ((steadyClock.nowMs() - begunMs) / 1_000).toFixed(1);
  console.log(`${receipts} receipts and ${traces} traces read, ${replaced} days rebuilt, ${seconds} s`);
}
