import type { Config } from '../../packages/service/src/app/config.ts';
import { insertKeptKeys } from '../../packages/service/src/db/kept-key-queries.ts';
import { openKeptKeys } from '../../packages/service/src/db/kept-keys.ts';
import type { Pool } from '../../packages/service/src/db/pool.ts';
import { deriveKey, hmacSha256, seal } from '../../packages/service/src/kernel/crypto.ts';
import { createEmailSeal } from '../../packages/service/src/kernel/email-seal.ts';
import { createKeys, derivedKeptKeys, type KeptKeys, type Keys } from '../../packages/service/src/kernel/keys.ts';
import type { TestDatabase } from './database.ts';

/** The secret of gateways that get no other. */
export const TEST_SECRET = 'the secret of tests that need no other';

/** Seals the addresses of all test databases, whatever secret a gateway has: tests read and write rows beside several of them. */
const EMAILS = deriveKey(Buffer.from(TEST_SECRET), 'emails');
export const EMAIL_SEAL = createEmailSeal(EMAILS);

/** The kept keys of a gateway with this secret, on a database from before keys were kept. */
function keptKeysOf(secret: Buffer): KeptKeys {
  return { ...derivedKeptKeys(secret), emails: EMAILS };
}

/** The keys of a gateway with this secret, on a database from before keys were kept. */
export function keysOf(secret: string | Buffer): Keys {
  const bytes = Buffer.from(secret as string);
  return createKeys({ secret: bytes }, keptKeysOf(bytes));
}

/** Lets processes of the service, which read their keys from the database, seal addresses as the test does. Call it before they start. */
export async function keepEmailKey(owner: Pool, secret: string): Promise<void> {
  const bytes = Buffer.from(secret);
  const fingerprint = hmacSha256(deriveKey(bytes, 'secret-fingerprint'), 'purser').subarray(0, 16);
  const sealed = seal(deriveKey(bytes, 'kept-keys'), Buffer.from('kept key emails'), EMAILS.toString('base64'));
  await insertKeptKeys(owner, [{ purpose: 'emails', fingerprint, sealed }]);
  owner.emails = EMAIL_SEAL;
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
  return { ...(opened?.keys ?? keptKeysOf(config.secret)), emails: EMAILS };
}
