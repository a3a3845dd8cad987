import { SCHEMA_VERSION } from '#db/migrate.ts';
import type { Pool } from '#db/pool.ts';
import { selectSchemaVersion } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/**
 * True when the database answers and has this build's schema. Anybody may ask, so that all who ask while a look is taken
 * share it: however many they are, they take one connection.
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
