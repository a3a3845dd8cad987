/** The wall clock, for everything but the database, which uses its own. Tests move it. */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that never jumps when the system time is set. Use it to measure how long something took. */
export interface SteadyClock {
  /** Milliseconds since an arbitrary moment. Only differences mean anything. */
  readonly nowMs: () => number;
}

export const steadyClock: SteadyClock = { nowMs: () => performance.now() };

/** Writes a time in ISO 8601, in UTC with milliseconds. */
export function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Makes a `Date` for libraries that take nothing else. */
export function dateOf(epochMs: number): Date {
  return new Date(epochMs);
}

/** Milliseconds since 1970 UTC of an ISO 8601 moment. */
export function epochMsOf(iso: string): number {
  return Date.parse(iso);
}

/** The first millisecond of the UTC month `later` months after `month`, which is given as `YYYY-MM`. */
export function startOfMonth(month: string, later: number): number {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number - 1 + later, 1);
}
