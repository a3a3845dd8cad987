import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { KeyId } from '#kernel/values/ids.ts';

/** A budget of a line of API keys in a month, given by its first day: `2026-11-01`. */
export interface BudgetMonth {
  readonly key: KeyId;
  readonly month: string;
}

interface BudgetUseRow {
  readonly month: string;
  readonly spent: bigint;
  readonly held: bigint;
  readonly allowance: bigint;
  readonly number: bigint;
}

/** What this cell has of a budget this month, see `budget_use.sql`. */
export async function selectBudgetUse(db: Queryable, key: KeyId): Promise<BudgetUseRow> {
  const { rows } = await db.query<BudgetUseRow>(
    'select month::text, spent, held, allowance, number from ledger.budget_use($1)',
    [key],
  );
  return only(rows);
}

/** What a cell asks of the home of a budget, see `lend_budget.sql`. */
export interface LendRequest extends BudgetMonth {
  readonly budget: bigint;
  readonly least: bigint;
  readonly wanted: bigint;
  readonly used: bigint;
  readonly spent: bigint;
  readonly allowance: bigint;
  readonly number: bigint;
}

export interface LentRow {
  readonly lent: bigint;
  readonly number: bigint;
  readonly limit: bigint;
  readonly granted: bigint;
  readonly refused: 'budget_reached' | 'budget_race_lost' | null;
}

export async function lendBudget(db: Queryable, cell: string, asked: LendRequest): Promise<LentRow> {
  const { key, month, budget, least, wanted, used, spent, allowance, number } = asked;
  const { rows } = await db.query<LentRow>(
    `select lent, number, limit_micros as "limit", granted, refused
     from ledger.lend_budget($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [key, month, cell, budget, least, wanted, used, spent, allowance, number],
  );
  const row = only(rows);
  assert(row.granted >= 0n && row.granted <= wanted && row.granted <= row.lent, 'a cell is lent at most what it wants');
  return row;
}

interface Allowance extends BudgetMonth {
  readonly lent: bigint;
  readonly limit: bigint;
  readonly number: bigint;
}

/** Takes note of an allowance. `isAll`: there is no more to be had now, see `take_allowance.sql`. */
export async function takeAllowance(db: Queryable, allowance: Allowance, isAll: boolean): Promise<void> {
  const { key, month, lent, limit, number } = allowance;
  await db.query('select ledger.take_allowance($1, $2, $3, $4, $5, $6)', [key, month, lent, limit, number, isAll]);
}

/**
 * Bars what this cell has left of any budget until its home confirms it in an answer: a database that was restored may have allowances that it gave back
 * since. For the first start of a gateway on it. A charge that was told may still be paid from it.
 */
export async function barAllowances(owner: Queryable): Promise<void> {
  // In the order of all functions that lock budgets, so that two never wait for each other in a circle.
  await owner.query(
    `update ledger.key_budgets b set allowance_limit = ledger.no_limit()
     from (
       select key_id, month from ledger.key_budgets
       where allowance_micros > spent_micros + held_micros and allowance_limit <> ledger.no_limit()
       order by key_id, month for no key update
     ) l
     where b.key_id = l.key_id and b.month = l.month`,
  );
}

export interface RecallRow {
  readonly cell: string;
  readonly month: string;
  readonly number: bigint;
}

/** Begins a recall, see `recall_allowances.sql`. `month` and `except` may be null. */
export async function recallAllowances(
  db: Queryable,
  key: KeyId,
  month: string | null,
  except: string | null,
): Promise<readonly RecallRow[]> {
  const { rows } = await db.query<RecallRow>(
    'select cell, month::text, number from ledger.recall_allowances($1, $2, $3)',
    [key, month, except],
  );
  return rows;
}

/** What a cell keeps of an allowance. `is_given_back`: the rest is free. False if a later message has come there. */
export interface GivenBackRow {
  readonly is_given_back: boolean;
  readonly used: bigint;
  readonly spent: bigint;
}

export async function giveBackAllowance(
  db: Queryable,
  { key, month, number }: BudgetMonth & { readonly number: bigint },
): Promise<GivenBackRow> {
  const { rows } = await db.query<GivenBackRow>(
    'select is_given_back, used, spent from ledger.give_back_allowance($1, $2, $3)',
    [key, month, number],
  );
  return only(rows);
}

/** Takes back what cells have given up, see `end_recall.sql`. Gives what has become free; undefined if an answer was overtaken. */
export async function endRecall(
  db: Queryable,
  { key, month }: BudgetMonth,
  given: readonly (RecallRow & GivenBackRow)[],
): Promise<bigint | undefined> {
  assert(
    given.every(({ used, spent }) => spent >= 0n && spent <= used),
    'a cell keeps at least what it has spent',
  );
  const { rows } = await db.query<{ free: bigint | null }>('select ledger.end_recall($1, $2, $3, $4, $5, $6) as free', [
    key,
    month,
    given.map(({ cell }) => cell),
    given.map(({ number }) => number),
    given.map(({ used }) => used),
    given.map(({ spent }) => spent),
  ]);
  return only(rows).free ?? undefined;
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  assert(row !== undefined, 'a function answers one row');
  return row;
}

/** What counts for the budget of a line of keys. */
export interface KeyBudgetRow {
  readonly key_id: KeyId;
  readonly spent_micros: bigint;
  readonly held_micros: bigint;
}

export async function selectKeyBudgets(db: Queryable, lines: readonly KeyId[]): Promise<readonly KeyBudgetRow[]> {
  const { rows } = await db.query<KeyBudgetRow>(
    `select key_id, spent_micros, held_micros from ledger.key_budgets
     where key_id = any ($1) and month = db.current_month()`,
    [lines],
  );
  return rows;
}
