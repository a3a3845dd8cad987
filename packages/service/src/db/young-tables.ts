import type { Pool } from '#db/pool.ts';
import { analyzeYoungTable } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';

const PERIOD_MS = 1_000;
/** More than there are: a table that stays young whatever is done is no reason to do it again at once. */
const TABLES_PER_PASS = 100;

/**
 * Has tables analyzed that are small and have doubled, every second: until then connections go on by plans that were made
 * when there was next to nothing in them.
 */
export function startYoungTables(pool: Pool, log: Log): { readonly stop: () => Promise<void> } {
  async function pass(): Promise<void> {
    try {
      for (let tables = 0; tables < TABLES_PER_PASS; tables += 1) if (!(await analyzeYoungTable(pool))) return;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'young tables could not be analyzed');
    }
  }
  return repeat(pass, PERIOD_MS);
}
