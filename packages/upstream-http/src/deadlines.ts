const TICK_MS = 100;

/** Something with a deadline. */
export interface Timed {
  /** Ticks until it is overdue; infinite while it waits for nothing. */
  ticksLeft: number;
  readonly onOverdue: () => void;
}

/** The smallest number of ticks that never ends before `ms` have passed. */
export function ticksOf(ms: number): number {
  // One more, because the first tick may come right after the deadline is set.
  return Math.ceil(ms / TICK_MS) + 1;
}

/**
 * Counts down every deadline with one timer. Nearly all deadlines are met, and a timer for each would cost more than the
 * rest of a request's bookkeeping. `onOverdue` is never early, and at most two ticks late.
 */
export class Deadlines {
  readonly #timed = new Set<Timed>();
  #timer: NodeJS.Timeout | undefined;

  add(timed: Timed): void {
    this.#timed.add(timed);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  remove(timed: Timed): void {
    this.#timed.delete(timed);
  }

  #tick(): void {
    if (this.#timed.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const timed of this.#timed) {
      timed.ticksLeft -= 1;
      if (timed.ticksLeft <= 0) timed.onOverdue();
    }
  }
}
