import type { Pool } from '#db/pool/pool.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { makeMonth } from '#ledger/months/queries.ts';

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
