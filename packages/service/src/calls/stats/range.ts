import type { Mode } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

export type Step = 'hour' | 'day';

/** A time, in milliseconds since 1970 UTC. It is widened to whole UTC hours, or days in a series by day. `toMs` is exclusive. */
export interface StatsTime {
  readonly mode: Mode;
  readonly fromMs: number;
  readonly toMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const;
/** The longest range of a series. */
export const RANGE_MS_MAX = { hour: 31 * DAY_MS, day: 400 * DAY_MS } as const;
/** The days for which hours are kept apart. The calls of an older day are all in its first hour. */
export const HOURS_KEPT_DAYS = 62;
const DEFAULT_RANGE_MS = { hour: DAY_MS, day: 30 * DAY_MS } as const;

interface AskedRange {
  readonly mode: Mode;
  readonly step: Step;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** The range that somebody asked for, or why it cannot be shown. Without times: the last 24 hours, or 30 days. */
export function statsTimeOf({ mode, step, ...asked }: AskedRange, nowMs: number): StatsTime | Refusal<'BAD_REQUEST'> {
  const toMs = asked.toMs ?? nowMs;
  const fromMs = asked.fromMs ?? toMs - DEFAULT_RANGE_MS[step];
  if (fromMs >= toMs) return refuse('BAD_REQUEST', '`from` must be before `to`.', { param: 'from' });
  // A step more, because `from` may be counted back from a moment that has passed since.
  if (toMs - fromMs > RANGE_MS_MAX[step] + STEP_MS[step]) {
    const days = RANGE_MS_MAX[step] / DAY_MS;
    return refuse('BAD_REQUEST', `A series by ${step} covers at most ${days} days.`, { param: 'from' });
  }
  if (step === 'hour' && fromMs < nowMs - (HOURS_KEPT_DAYS - 1) * DAY_MS) {
    const message = `Hours are kept for ${HOURS_KEPT_DAYS - 1} days. Use \`step=day\` for earlier times.`;
    return refuse('BAD_REQUEST', message, { param: 'step' });
  }
  return { mode, fromMs, toMs };
}
