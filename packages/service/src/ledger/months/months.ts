import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { makeMonth, type MonthRow, selectMonths } from '#ledger/months/queries.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';

/** Receipts that everybody can look at, beside those of this month. */
export const MONTHS_KEPT = 13;
/** Calls of a month's last hours may run on, and settlements may wait on a disk while the database is away. */
export const DAYS_AFTER_END = 3;
/** Months are made two ahead, so this may fail for two months. */
const PERIOD_MS = 60_000;
/** The most months that one pass makes. After a pause of years, the next passes make the rest. */
const MONTHS_PER_PASS = 24;

/** Makes the months ahead that receipts are kept in. One process on a database does so. */
export function startMonths(pool: Pool, log: Log, isKeeper: () => boolean): { readonly stop: () => Promise<void> } {
  async function pass(): Promise<void> {
    if (!isKeeper()) return;
    try {
      for (let months = 0; months < MONTHS_PER_PASS; months += 1) if (!(await makeMonth(pool))) return;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'a month for receipts could not be made');
    }
  }
  return repeat(pass, PERIOD_MS);
}

/** Reads a month by its name. Throws `MonthFault` if it was never made. */
export async function findMonth(owner: Pool, name: string): Promise<MonthRow> {
  const months = await selectMonths(owner, DAYS_AFTER_END, MONTHS_KEPT);
  const month = months.find((one) => one.month === `${name}-01`);
  if (month !== undefined) return month;
  const first = months[0]?.month.slice(0, 7) ?? '';
  throw new MonthFault(
    name < first
      ? `${first} is the first month: it has all receipts from before it too.`
      : `There is no month ${name} yet. \`purser ledger months\` lists them.`,
  );
}
