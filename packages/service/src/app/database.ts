import path from 'node:path';
import type { Config } from '#app/config.ts';
import { StartError } from '#app/start-error.ts';
import { migrate } from '#db/migrate.ts';
import { createPool, isConnectionFault, type Pool } from '#db/pool.ts';
import { claimSecret, replaceFingerprint } from '#db/queries.ts';
import { startEmbeddedPostgres } from '#embedded/embedded-postgres.ts';
import { findRunningPostgres } from '#embedded/running.ts';
import { deriveKey, hmacSha256 } from '#kernel/crypto.ts';
import type { Log } from '#kernel/log.ts';

/** The database that a command works on. */
export interface Database {
  readonly url: string;
  /** Connects as the owner of the schema: for migrations, seeds and checks. Calls use roles with fewer rights. */
  readonly owner: Pool;
  readonly close: () => Promise<void>;
}

const OWNER_CONNECTIONS_MAX = 2;
const FINGERPRINT_BYTES = 16;

interface OpenOptions {
  readonly config: Config;
  readonly log: Log;
  readonly say: (text: string) => void;
  /** True to use the embedded server of a service that already runs on the data directory. Otherwise that is refused. */
  readonly mayShare: boolean;
}

/** Opens the server that `DATABASE_URL` names, or the embedded one, and brings its schema up to date. */
export async function openDatabase({ config, log, say, mayShare }: OpenOptions): Promise<Database> {
  const directory = path.join(config.dataDirectory, 'postgres');
  const given = config.databaseUrl ?? (mayShare ? await findRunningPostgres(directory) : undefined);
  const embedded = given === undefined ? await startEmbeddedPostgres({ directory, log, say }) : undefined;
  const url = given ?? embedded?.url ?? '';
  const owner = createPool({ url, role: 'owner', connectionsMax: OWNER_CONNECTIONS_MAX, log });
  const close = async () => {
    await owner.end();
    await embedded?.stop();
  };
  try {
    const { migrations, functions } = await migrate(owner);
    if (migrations.length + functions.length > 0) {
      say(
        `The database schema is up to date (${migrations.length} migrations and ${functions.length} functions applied).`,
      );
    }
  } catch (fault) {
    await close();
    throw isConnectionFault(fault) ? new StartError(unreachable(url), { cause: fault }) : fault;
  }
  return { url, owner, close };
}

/**
 * Refuses a secret other than the one that the database has known since its first start. Two gateways with different secrets
 * would not recognise each other's retries, links and sealed secrets, and one idempotency key could be charged twice.
 */
export async function checkSecret(owner: Pool, secret: Buffer): Promise<void> {
  if ((await claimSecret(owner, fingerprintOf(secret))) === 'claimed') return;
  throw new StartError(
    'This database belongs to another PURSER_SECRET. Set the one that its other gateways use, or, in development, start ' +
      'with the data directory that keeps it. If you want to give the secret up for a new one, stop all gateways and run ' +
      "`npm run purser -- secret replace`; the operator's guide says what is lost.",
  );
}

/** Makes this secret the one of the database. Throws `StartError` while a gateway runs: it would go on with the old one. */
export async function replaceSecret(owner: Pool, secret: Buffer): Promise<void> {
  if (await replaceFingerprint(owner, fingerprintOf(secret))) return;
  throw new StartError('A gateway runs on this database. Stop all of them, wait 15 seconds, and try again.');
}

/** Whether this is the secret with the fingerprint that a database keeps. */
export function hasSecret(fingerprint: Buffer, secret: Buffer): boolean {
  return fingerprintOf(secret).equals(fingerprint);
}

/** Tells one secret from another and does not reveal it: the key that it is made from is used for nothing else. */
function fingerprintOf(secret: Buffer): Buffer {
  return hmacSha256(deriveKey(secret, 'secret-fingerprint'), 'purser').subarray(0, FINGERPRINT_BYTES);
}

/** Names host and database only: the URL contains a password. */
function unreachable(url: string): string {
  const { host, pathname } = new URL(url);
  return `The database ${pathname.slice(1)} at ${host} cannot be reached. Check that it is running and that DATABASE_URL is right.`;
}
