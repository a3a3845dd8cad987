import { inTransaction, type Pool, sqlStateOf } from '#db/pool/pool.ts';
import { checkLedger } from '#ledger/check/check.ts';
import { assert } from '#kernel/faults/assert.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';
import { type MonthRow, selectMonths } from '#ledger/months/queries.ts';
import { barMonth, countHoldsOfMonth, insertClosing } from '#ledger/closing/queries.ts';
import { readReceiptLines } from '#ledger/months/receipt-lines.ts';
import { withLocks } from '#ledger/months/with-locks.ts';
import { DAYS_AFTER_END, findMonth, MONTHS_KEPT } from '#ledger/months/months.ts';

const CHECK_VIOLATED = '23514';

/**
 * Closes a month (`2026-07`): bars it, checks the whole ledger, adds up and hashes its receipts, and keeps that for good. A month
 * that is closed already is given as it is. Safe to run beside calls, twice, and again after it was killed: a month that is barred and
 * not closed yet takes no receipts and is closed by the next run.
 *
 * Throws `MonthFault` with what to do if the month cannot be closed: it does not exist or has not ended for three days, an
 * earlier one is open, calls of it still run, or the check finds a difference.
 */
export async function closeMonth(owner: Pool, name: string): Promise<MonthRow> {
  const month = await findMonth(owner, name);
  if (month.closed_at !== null) return month;
  await refuseOpenBefore(owner, month);
  if (!month.has_ended) throw new MonthFault(`${name} can be closed ${DAYS_AFTER_END} days after its end.`);
  await bar(owner, month);
  const { found } = await checkLedger(owner);
  if (found > 0n) {
    throw new MonthFault(
      `The books have ${found} differences: \`purser ledger check\` lists them. Nothing was closed.`,
    );
  }
  const { receipts, hash } = await readReceiptLines(owner, month.month);
  await inTransaction(owner, (tx) => insertClosing(tx, month.month, receipts, hash));
  const closed = await findMonth(owner, name);
  assert(closed.rows_hash?.equals(hash) === true, 'a closed month has the hash of what was read');
  assert(closed.receipts === BigInt(receipts), 'a closed month has as many receipts as were read');
  return closed;
}

async function refuseOpenBefore(owner: Pool, { month }: MonthRow): Promise<void> {
  const open = (await selectMonths(owner, DAYS_AFTER_END, MONTHS_KEPT)).find(
    (one) => one.closed_at === null && one.month < month,
  );
  if (open !== undefined)
    throw new MonthFault(`Close ${open.month.slice(0, 7)} first: months are closed in their order.`);
}

/** Fails if calls hold that began in the month or before. */
async function bar(owner: Pool, { month }: MonthRow): Promise<void> {
  try {
    await withLocks(owner, (tx) => barMonth(tx, month));
  } catch (fault) {
    if (sqlStateOf(fault) !== CHECK_VIOLATED) throw fault;
    const holds = await countHoldsOfMonth(owner, month);
    throw new MonthFault(`${holds} calls that began in ${month.slice(0, 7)} or before still hold money.`, {
      cause: fault,
    });
  }
}
