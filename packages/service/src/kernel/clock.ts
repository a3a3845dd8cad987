/** The time, as everything but the database reads it. Tests move it. */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Time that only goes on, whoever sets the system's clock: for how long ago something was. */
export interface SteadyClock {
  /** Milliseconds since a moment that means nothing. */
  readonly nowMs: () => number;
}

export const steadyClock: SteadyClock = { nowMs: () => performance.now() };

/** ISO 8601 in UTC with milliseconds. */
export function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The first millisecond of a UTC month given as `YYYY-MM`, or of one that comes `later` months after it. */
export function startOfMonth(month: string, later: number): number {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number - 1 + later, 1);
}
