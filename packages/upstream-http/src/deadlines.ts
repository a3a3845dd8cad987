const TICK_MS = 100;

/** Something that may not take for ever. */
export interface Timed {
  /** So many ticks are left to it; infinite while nothing is awaited. */
  ticksLeft: number;
  readonly onOverdue: () => void;
}

/** As many ticks as are no less than this time, and little more. */
export function ticksOf(ms: number): number {
  return Math.ceil(ms / TICK_MS) + 1;
}

/**
 * Counts for all that is timed with one timer, since nearly all of it ends in time and a timer each would cost more than
 * the rest of its bookkeeping. What is overdue hears of it up to two ticks late, and never early.
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
