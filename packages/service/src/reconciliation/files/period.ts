import { dateOf, epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A period of UTC days, as `YYYY-MM-DD`. `to` is the day after the last. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;
/** A month. */
const DAYS_MAX = 31;

/** Refuses a period that is empty, longer than a month, or not over yet: what is under way is on one side only. */
export function periodRefusal({ from, to }: Period, nowMs: number): Refusal<'BAD_REQUEST'> | undefined {
  const days = (epochMsOf(to) - epochMsOf(from)) / DAY_MS;
  if (days < 1)
    return refuse('BAD_REQUEST', '`to` must be after `from`: it is the day after the last.', { param: 'to' });
  if (days > DAYS_MAX) return refuse('BAD_REQUEST', `A period has at most ${DAYS_MAX} days.`, { param: 'to' });
  if (epochMsOf(to) > nowMs) {
    return refuse('BAD_REQUEST', 'The period is not over. `to` may be today in UTC, and no later.', { param: 'to' });
  }
  return undefined;
}

export function startOf(day: string): Date {
  return dateOf(epochMsOf(day));
}

/** The UTC day of a moment. */
export function dayOf(epochMs: number): string {
  return isoOf(epochMs).slice(0, 10);
}
