import { access, constants, statfs } from 'node:fs/promises';
import { isUsable, SCHEMA_VERSION } from '#db/schema/migrate.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectOldestSchema, selectSchemaVersion } from '#db/schema/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/** Ten thousand settlements, the most that may wait on disk, take a few MiB, and PostgreSQL needs as much for its log. */
const FREE_BYTES_MIN = 16 * 1024 * 1024;
/** The renewals of the lease that may fail in a row: a lock can make one fail. */
export const FAILED_RENEWALS_MAX = 1;

interface ReadinessOptions {
  readonly pool: Pool;
  readonly dataDirectory: string;
  /** How many renewals of this process's lease have failed in a row. A database that takes no writes fails all of them. */
  readonly failedRenewals: () => number;
  /** Whether the last statement of a call was refused: on a full disk, the lease may be renewed for long. */
  readonly takesNoWrites: () => boolean;
  readonly log: Log;
}

/**
 * Says why this process should get no calls, in a sentence without internals, or undefined if it is ready: the database
 * answers, takes writes and has a schema that this build can use, and the disk of the data directory has room for settlements. Anybody may
 * ask, so concurrent requests share one look: a flood of them takes a single connection.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<string | undefined> {
  let looking: Promise<string | undefined> | undefined;
  let reported: string | undefined;

  async function look(): Promise<string | undefined> {
    const { reason, fault } = (await databaseFault(options)) ?? (await diskFault(options)) ?? {};
    if (reason !== undefined && reason !== reported) {
      options.log.warn({ reason, ...(fault === undefined ? {} : { fault: describeFault(fault) }) }, 'not ready');
    }
    reported = reason;
    looking = undefined;
    return reason;
  }

  return () => (looking ??= look());
}

interface Unready {
  readonly reason: string;
  readonly fault?: unknown;
}

async function databaseFault({ pool, failedRenewals, takesNoWrites }: ReadinessOptions): Promise<Unready | undefined> {
  try {
    const version = await selectSchemaVersion(pool);
    if (version < SCHEMA_VERSION) return { reason: 'The database has an older schema than this build.' };
    if (version > SCHEMA_VERSION && !isUsable(await selectOldestSchema(pool))) {
      return { reason: 'The database has a newer schema than this build. Start a build that is at least as new.' };
    }
  } catch (fault) {
    return { reason: 'The database does not answer.', fault };
  }
  if (takesNoWrites() || failedRenewals() > FAILED_RENEWALS_MAX) return { reason: 'The database takes no writes.' };
  return undefined;
}

async function diskFault({ dataDirectory }: ReadinessOptions): Promise<Unready | undefined> {
  try {
    const { bavail, bsize } = await statfs(dataDirectory);
    if (bavail * bsize < FREE_BYTES_MIN) return { reason: 'The disk of the data directory is full.' };
    await access(dataDirectory, constants.W_OK);
    return undefined;
  } catch (fault) {
    return { reason: 'The data directory cannot be written to.', fault };
  }
}
