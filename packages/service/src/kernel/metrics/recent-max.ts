/** The largest of the values noted in the last few turns. Reading changes nothing, so any number of readers see the same. */
interface RecentMax {
  readonly note: (value: number) => void;
  /** Begins a new turn, and forgets the oldest. */
  readonly turn: () => void;
  readonly read: () => number;
}

/** The parameter `turns` says how many turns count, the present one included. */
export function createRecentMax(turns: number): RecentMax {
  let largest: readonly number[] = [0];
  return {
    note: (value) => {
      largest = [Math.max(largest[0] ?? 0, value), ...largest.slice(1)];
    },
    turn: () => {
      largest = [0, ...largest].slice(0, turns);
    },
    read: () => Math.max(...largest),
  };
}
