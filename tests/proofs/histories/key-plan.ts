import type { Random } from './random.ts';

/** A live key with a monthly budget (CP-08). */
export interface KeyPlan {
  readonly name: string;
  /** The first key of its line, whose budget it shares: itself unless it succeeds another. */
  readonly line: string;
  /**
   * A `wide` budget is never reached. A `changing` one is raised and lowered while calls run. A `tight` one is for one
   * burst, like a tight wallet.
   */
  readonly kind: 'wide' | 'changing' | 'tight';
  readonly budget: number;
}

/** This is more than all calls of a history cost. */
const WIDE_BUDGET = 9_000_000;
const TIGHT_KEYS = 4;

/** `tightBudget` has room for one and a half calls of a burst. */
export function planKeys(random: Random, tightBudget: number): readonly KeyPlan[] {
  const budget = random.whole(1_000, 80_000);
  return [
    { name: 'wide', line: 'wide', kind: 'wide', budget: WIDE_BUDGET },
    { name: 'changing', line: 'changing', kind: 'changing', budget },
    { name: 'successor', line: 'changing', kind: 'changing', budget },
    ...Array.from({ length: TIGHT_KEYS }, (_, index): KeyPlan => {
      return { name: `tight-${index}`, line: `tight-${index}`, kind: 'tight', budget: tightBudget };
    }),
  ];
}
