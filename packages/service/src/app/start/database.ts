import path from 'node:path';
import type { Config } from '#app/settings/config.ts';
import { SetupError, StartError } from '#app/environment/start-error.ts';
import { UnfitConnectionError } from '#db/pool/connection-check.ts';
import { databaseInWords } from '#db/servers/hosts.ts';
import { NoLeaderError } from '#db/servers/leader.ts';
import { migrate } from '#db/schema/migrate.ts';
import { refusalInWords } from '#db/servers/refusal-words.ts';
import { createPool, isConnectionFault, type Pool } from '#db/pool/pool.ts';
import type { startEmbeddedPostgres } from '#embedded/embedded-postgres.ts';
import type { Log } from '#kernel/log.ts';

/** The database that a command works on. */
export interface Database {
  readonly url: string;
  /** Connects as the owner of the schema: for migrations, seeds and checks. Calls use roles with fewer rights. */
  readonly owner: Pool;
  readonly close: () => Promise<void>;
}

const OWNER_CONNECTIONS_MAX = 2;
const CHECK_IT = 'Check that it is running and that DATABASE_URL is right.';

interface OpenOptions {
  readonly config: Config;
  readonly log: Log;
  readonly say: (text: string) => void;
  /**
   * If it is true, the embedded server of a service that already runs on the data directory may be used. Otherwise that
   * is refused.
   */
  readonly mayShare: boolean;
  /** Looks at the server before anything is migrated, and throws what keeps the service from running on it. */
  readonly judge?: (owner: Pool) => Promise<void>;
}

/** Opens the server that `DATABASE_URL` names, or the embedded one, and brings its schema up to date. */
export async function openDatabase({ config, log, say, mayShare, judge }: OpenOptions): Promise<Database> {
  const directory = path.join(config.dataDirectory, 'postgres');
  const given = config.databaseUrl ?? (mayShare ? await findRunning(directory) : undefined);
  const embedded = given === undefined ? await startOwn({ directory, log, say, backups: config.backups }) : undefined;
  const url = given ?? embedded?.url ?? '';
  const owner = createPool({ url, role: 'owner', connectionsMax: OWNER_CONNECTIONS_MAX, log });
  const close = async () => {
    await owner.end();
    await embedded?.stop();
  };
  try {
    await judge?.(owner);
    const { migrations, functions, isNewer } = await migrate(owner);
    if (isNewer) say('A newer version of Purser has upgraded the database. This version runs on it as it is.');
    if (migrations.length + functions.length > 0) {
      say(
        `The database schema is up to date (${migrations.length} migrations and ${functions.length} functions applied).`,
      );
    }
  } catch (fault) {
    await close();
    const refusal = refusalInWords(fault, url);
    if (refusal !== undefined) throw new SetupError(refusal, { cause: fault });
    throw isConnectionFault(fault) ? new StartError(unreachable(url, fault), { cause: fault }) : fault;
  }
  return { url, owner, close };
}

/** The code of our own server is loaded where there is one: many services have a server of others. */
async function startOwn(options: Parameters<typeof startEmbeddedPostgres>[0]) {
  const { startEmbeddedPostgres } = await import('#embedded/embedded-postgres.ts');
  return startEmbeddedPostgres(options);
}

async function findRunning(directory: string): Promise<string | undefined> {
  const { findRunningPostgres } = await import('#embedded/running.ts');
  return findRunningPostgres(directory);
}

function unreachable(text: string, fault: unknown): string {
  if (fault instanceof UnfitConnectionError) return fault.message;
  const where = databaseInWords(text);
  if (fault instanceof NoLeaderError) return `${where} has no server that takes writes. ${CHECK_IT}`;
  return `${where} cannot be reached. ${CHECK_IT}`;
}
