import type { Pool } from '#db/pool/pool.ts';
import { analyzeSmallTable } from '#db/health/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

const PERIOD_MS = 1_000;
/**
 * There are fewer tables than this. The bound keeps one pass finite if a table still counts as small after it was
 * analyzed.
 */
const TABLES_PER_PASS = 100;

/**
 * Analyzes small tables that have doubled, every second. Until a table is analyzed, connections keep plans that were made
 * when it was almost empty, and autovacuum comes too late to help (decision 37).
 */
export function startSmallTableStatistics(
  pool: Pool,
  log: Log,
  isKeeper: () => boolean,
): { readonly stop: () => Promise<void> } {
  async function pass(): Promise<void> {
    if (!isKeeper()) return;
    try {
      for (let tables = 0; tables < TABLES_PER_PASS; tables += 1) if (!(await analyzeSmallTable(pool))) return;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'small tables could not be analyzed');
    }
  }
  return repeat(pass, PERIOD_MS);
}
