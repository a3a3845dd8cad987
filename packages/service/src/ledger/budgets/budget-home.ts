import type { Pool } from '#db/pool/pool.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { KeyId } from '#kernel/values/ids.ts';
import {
  type BudgetMonth,
  endRecall,
  type GivenBackRow,
  lendBudget,
  type LendRequest,
  type LentRow,
  recallAllowances,
  type RecallRow,
} from '#ledger/budgets/queries.ts';
import { createRounds } from '#ledger/budgets/rounds.ts';

interface BudgetHomeOptions {
  readonly db: Pool;
  /** Asks a cell to give up what it does not use. Rejects if it does not answer in half a second. */
  readonly askBack: (cell: string, asked: BudgetMonth & { readonly number: bigint }) => Promise<GivenBackRow>;
  readonly clock: SteadyClock;
}

/** What the home of a budget answers. `isAll`: it has no more to lend. `budget_elsewhere`: a cell that may have some does not answer. */
export interface Lent extends Pick<LentRow, 'lent' | 'number' | 'limit'> {
  readonly isAll: boolean;
  readonly refused: LentRow['refused'] | 'budget_elsewhere';
}

/** Lends of budgets, and takes back what other cells do not use. */
export interface BudgetHome {
  readonly lend: (asked: LendRequest, cell: string) => Promise<Lent>;
  /** Takes back for a call here. */
  readonly gather: (key: KeyId) => Promise<Gathered>;
}

interface Gathered {
  /** What each cell had that was lent to is known. */
  readonly isWhole: boolean;
  /** Whether nothing came back, neither by this recall nor by another one at the same time. */
  readonly isNothing: boolean;
}

/** How long a cell that did not answer is left alone. */
const AWAY_MS = 1_000;
/** How often cells are asked whose answers were overtaken: more was lent to them meanwhile, or somebody else has recalled. */
const TRIES_MAX = 3;

export function createBudgetHome({ db, askBack, clock }: BudgetHomeOptions): BudgetHome {
  const awayUntilMs = new Map<string, number>();

  async function giveBackOf(key: KeyId, { cell, month, number }: RecallRow): Promise<GivenBackRow | undefined> {
    if ((awayUntilMs.get(cell) ?? 0) > clock.nowMs()) return undefined;
    try {
      return await askBack(cell, { key, month, number });
    } catch {
      awayUntilMs.set(cell, clock.nowMs() + AWAY_MS); // It keeps what it has. Nothing is lost by that.
      return undefined;
    }
  }

  async function recall(asked: Recall): Promise<Gathered> {
    let isNothing = true;
    for (let tries = 1; ; tries += 1) {
      const { isWhole, isOvertaken, free } = await recallOnce(asked);
      isNothing &&= free === 0n && !isOvertaken;
      if (!isOvertaken || tries === TRIES_MAX) return { isWhole: isWhole && !isOvertaken, isNothing };
    }
  }

  async function recallOnce({ key, month, except }: Recall): Promise<Recalled> {
    const rows = await recallAllowances(db, key, month, except);
    const [first] = rows;
    if (first === undefined) return NOBODY;
    const answers = await Promise.all(rows.map(async (row) => ({ row, answer: await giveBackOf(key, row) })));
    const given = answers.flatMap(({ row, answer }) => (answer?.is_given_back === true ? [{ ...row, ...answer }] : []));
    const free = await endRecall(db, { key, month: first.month }, given);
    const isOvertaken = free === undefined || answers.some(({ answer }) => answer?.is_given_back === false);
    return { isWhole: answers.every(({ answer }) => answer !== undefined), isOvertaken, free: free ?? 0n };
  }

  const rounds = createRounds((_, [asked]: readonly [Recall, ...Recall[]]) => recall(asked));
  const inRounds = (asked: Recall) => rounds(`${asked.key} ${asked.month} ${asked.except}`, asked);

  return {
    gather: (key) => inRounds({ key, month: null, except: null }),
    lend: async (asked, cell) => {
      const whole = await lendBudget(db, cell, { ...asked, least: asked.wanted });
      if (whole.granted > 0n) return lentOf(whole, false, null);
      // An allowance that was lent under a larger budget is no use to the cell that asks: it gives back what it does not use like the others.
      const except = whole.limit > asked.budget ? null : cell;
      const { isWhole } = await inRounds({ key: asked.key, month: asked.month, except });
      const some = await lendBudget(db, cell, asked);
      const refused = some.refused === 'budget_race_lost' && !isWhole ? 'budget_elsewhere' : some.refused;
      return lentOf(some, some.granted < asked.wanted, refused);
    },
  };
}

interface Recalled {
  /** Each cell that was lent to has answered. */
  readonly isWhole: boolean;
  /**
   * Tells whether other messages were faster than a recall or its answer, so that nobody knows by this what that cell
   * has.
   */
  readonly isOvertaken: boolean;
  readonly free: bigint;
}

/** No cell has anything. */
const NOBODY: Recalled = { isWhole: true, isOvertaken: false, free: 0n };

interface Recall {
  readonly key: KeyId;
  /** The month of the budget. It is null for this month. */
  readonly month: string | null;
  /** A cell that keeps what it has. Null if none does. */
  readonly except: string | null;
}

function lentOf({ lent, number, limit }: LentRow, isAll: boolean, refused: Lent['refused']): Lent {
  return { lent, number, limit, isAll, refused };
}
