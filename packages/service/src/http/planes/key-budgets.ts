import type { ApiKey } from '#developers/keys/api-key.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import { type Micros, ZERO_MICROS } from '#kernel/values/micros.ts';

/** What counts for a key's monthly budget so far. */
export interface BudgetUse {
  readonly spent: Micros;
  readonly held: Micros;
}

/** Reads the use of lines. It is undefined if nobody knows it now, because another cell does not answer. */
type ReadLines = (lines: readonly KeyId[]) => Promise<ReadonlyMap<KeyId, BudgetUse> | undefined>;

/** Reads what this month's calls with these keys have spent and hold, for those that have a budget. A key is absent if nobody knows now. */
export type ReadBudgets = (keys: readonly ApiKey[]) => Promise<ReadonlyMap<string, BudgetUse>>;

/** Real and play money are read apart, and only if a key of that mode has a budget. */
export function createReadBudgets(readLines: Readonly<Record<ApiKey['mode'], ReadLines>>): ReadBudgets {
  return async (keys) => {
    const budgeted = keys.filter(({ settings }) => settings.monthlyBudget !== null);
    const linesOf = (mode: ApiKey['mode']) => [
      ...new Set(budgeted.filter((key) => key.mode === mode).map(({ line }) => line)),
    ];
    const read = async (mode: ApiKey['mode']) => {
      const lines = linesOf(mode);
      return lines.length === 0 ? new Map<KeyId, BudgetUse>() : readLines[mode](lines);
    };
    const [live, sandbox] = await Promise.all([read('live'), read('sandbox')]);
    const uses = { live, sandbox };
    const known = budgeted.filter(({ mode }) => uses[mode] !== undefined);
    return new Map(known.map(({ keyId, mode, line }) => [keyId, uses[mode]?.get(line) ?? NOTHING_SPENT]));
  };
}

const NOTHING_SPENT: BudgetUse = { spent: ZERO_MICROS, held: ZERO_MICROS };
