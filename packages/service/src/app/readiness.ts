import { SCHEMA_VERSION } from '#db/migrate.ts';
import type { Pool } from '#db/pool.ts';
import { selectSchemaVersion } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/**
 * Tells whether the database answers and has this build's schema or a newer one. Anybody may ask, so concurrent requests
 * share one query: a flood of them takes a single connection.
 */
export function createReadiness(pool: Pool, log: Log): () => Promise<boolean> {
  let looking: Promise<boolean> | undefined;

  async function look(): Promise<boolean> {
    try {
      return (await selectSchemaVersion(pool)) >= SCHEMA_VERSION;
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'not ready: the database does not answer');
      return false;
    } finally {
      looking = undefined;
    }
  }

  return () => (looking ??= look());
}
