/** The share of the time that a pass works in its first period. */
const SHARE = 0.05;
/**
 * The longest pause, as a share of the period. With it, a page of long histories does not make the pass wait for
 * minutes.
 */
const PAUSE_MAX = 0.1;

interface Progress {
  /** How long the last page took. */
  readonly pageMs: number;
  /** How long the pass has taken so far. */
  readonly passMs: number;
  readonly periodMs: number;
}

/**
 * How long a pass waits after a page, so that it works for 5 % of its first period, 10 % of its second, and so on. A pass
 * with much to do takes longer than its period, but not for ever: it works harder the later it is.
 */
export function pauseAfter({ pageMs, passMs, periodMs }: Progress): number {
  const share = Math.min(1, SHARE * (1 + Math.floor(Math.max(0, passMs) / periodMs)));
  return Math.min(Math.max(0, pageMs) * (1 / share - 1), PAUSE_MAX * periodMs);
}
