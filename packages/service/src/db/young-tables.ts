import type { Pool } from '#db/pool.ts';
import { analyzeYoungTables } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/repeat.ts';

const PERIOD_MS = 1_000;

/**
 * Has tables analyzed that are small and have doubled, every second: until then connections go on by plans that were made
 * when there was next to nothing in them.
 */
export function startYoungTables(pool: Pool, log: Log): { readonly stop: () => Promise<void> } {
  async function pass(): Promise<void> {
    try {
      await analyzeYoungTables(pool);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'young tables could not be analyzed');
    }
  }
  return repeat(pass, PERIOD_MS);
}
