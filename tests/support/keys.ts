import type { Config } from '../../packages/service/src/app/config.ts';
import { openKeptKeys } from '../../packages/service/src/db/kept-keys.ts';
import { createKeys, derivedKeptKeys, type KeptKeys, type Keys } from '../../packages/service/src/kernel/keys.ts';
import type { TestDatabase } from './database.ts';

/** The keys of a gateway with this secret, on a database from before keys were kept. */
export function keysOf(secret: string | Buffer): Keys {
  const bytes = Buffer.from(secret as string);
  return createKeys({ secret: bytes }, derivedKeptKeys(bytes));
}

/**
 * The kept keys of a gateway in this process. If the test chose the secret, the database keeps them, as for a gateway in a process
 * of its own: the two must find each other's retries. Otherwise the secret is one of many on this database, and they are derived.
 */
export async function keptKeysFor(
  { owner }: TestDatabase,
  config: Config,
  { PURSER_SECRET }: Readonly<Record<string, string>>,
): Promise<KeptKeys> {
  const opened = PURSER_SECRET === undefined ? undefined : await openKeptKeys(owner, config, { isGateway: true });
  return opened?.keys ?? derivedKeptKeys(config.secret);
}
