import { z } from 'zod';
import type { EveryCell } from '#http/cells/questions/every-cell.ts';
import { CellAway } from '#kernel/faults/cell-away.ts';
import { added } from '#http/cells/questions/add-rows.ts';
import type { CellQuestion } from '#http/cells/questions/question.ts';
import { bigintSchema, daySchema, listOf } from '#http/cells/questions/schemas.ts';
import { type KeyId, parseId } from '#kernel/values/ids.ts';
import type { Lent } from '#ledger/budgets/budget-home.ts';
import type { BudgetMonth, GivenBackRow, KeyBudgetRow, LendRequest } from '#ledger/budgets/queries.ts';

const BODY_BYTES_MAX = 1_024;
/** A call waits for it, and the home may ask others meanwhile. */
const LEND_MS_MAX = 1_000;
const BACK_MS_MAX = 500;
/** A page of keys waits for it, by which somebody may want to revoke one. */
const USE_MS_MAX = 2_000;
/** An app has some hundred keys at most that have a budget. */
const KEYS_MAX = 10_000;

const keySchema = z.custom<KeyId>((id) => typeof id === 'string' && parseId('key', id) !== undefined);
const amountSchema = bigintSchema.refine((amount) => amount >= 0n);
const positiveSchema = bigintSchema.refine((amount) => amount > 0n);

/**
 * `POST /cells/budgets` asks the home of the budget of an API key to lend of it. The answer says what the cell has in
 * all.
 */
export const LEND: CellQuestion<LendRequest, Lent> = {
  path: '/cells/budgets',
  bytesMax: BODY_BYTES_MAX,
  waitMs: LEND_MS_MAX,
  asked: z.object({
    key: keySchema,
    month: daySchema,
    budget: positiveSchema,
    least: positiveSchema,
    wanted: positiveSchema,
    used: amountSchema,
    spent: amountSchema,
    allowance: amountSchema,
    number: amountSchema,
  }),
  answer: z.object({
    lent: amountSchema,
    number: amountSchema,
    limit: amountSchema,
    isAll: z.boolean(),
    refused: z.enum(['budget_reached', 'budget_race_lost', 'budget_elsewhere']).nullable(),
  }),
};

/** With `POST /cells/budgets-back`, the home asks for what the cell does not use of what it was lent. */
export const GIVE_BACK: CellQuestion<BudgetMonth & { readonly number: bigint }, GivenBackRow> = {
  path: '/cells/budgets-back',
  bytesMax: BODY_BYTES_MAX,
  waitMs: BACK_MS_MAX,
  asked: z.object({ key: keySchema, month: daySchema, number: positiveSchema }),
  answer: z.object({ is_given_back: z.boolean(), used: amountSchema, spent: amountSchema }),
};

/** `POST /cells/budget-use` asks what calls with these lines of keys have spent and hold there this month. */
const USE: CellQuestion<readonly KeyId[], readonly KeyBudgetRow[]> = {
  path: '/cells/budget-use',
  bytesMax: 1_048_576,
  waitMs: USE_MS_MAX,
  asked: z.array(keySchema).max(KEYS_MAX).readonly(),
  answer: listOf(z.object({ key_id: keySchema, spent_micros: amountSchema, held_micros: amountSchema })),
};

type ReadUse = (lines: readonly KeyId[]) => Promise<readonly KeyBudgetRow[]>;

/** What counts for budgets in all cells. Undefined if one of them does not answer. */
export function budgetUseEverywhere(
  here: ReadUse,
  { reader }: EveryCell,
): (lines: readonly KeyId[]) => Promise<readonly KeyBudgetRow[] | undefined> {
  const read = reader(USE, here);
  return async (lines) => {
    try {
      return added(await read(lines), ({ key_id: key }) => key);
    } catch (fault) {
      if (fault instanceof CellAway) return undefined;
      throw fault;
    }
  };
}
