const TICK_MS = 100;

/** Something with a deadline. */
export interface Timed {
  /** Ticks until it is overdue; infinite while it waits for nothing. */
  ticksLeft: number;
  /** Where it is in the list of `Deadlines`, which keeps this field, or -1 if it is in none. */
  place: number;
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
 *
 * In an array and not in a `Set`: V8 links each table that a set has outgrown to the next one, so one table in the old
 * generation keeps all later ones from being collected with the young, and with each what was under way when it was made.
 */
export class Deadlines {
  readonly #timed: Timed[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(timed: Timed): void {
    timed.place = this.#timed.push(timed) - 1;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Does nothing if it was removed before. */
  remove(timed: Timed): void {
    if (timed.place === -1) return;
    const last = this.#timed.pop();
    if (last !== undefined && last !== timed) {
      this.#timed[timed.place] = last;
      last.place = timed.place;
    }
    timed.place = -1;
  }

  #tick(): void {
    if (this.#timed.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // A copy, because what is overdue is removed.
    for (const timed of this.#timed.slice()) {
      if (timed.place === -1) continue;
      timed.ticksLeft -= 1;
      if (timed.ticksLeft <= 0) timed.onOverdue();
    }
  }
}
