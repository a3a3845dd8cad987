import { insertKeptKeys } from '../../packages/service/src/db/kept-key-queries.ts';
import type { Pool } from '../../packages/service/src/db/pool.ts';
import { deriveKey, hmacSha256, seal } from '../../packages/service/src/kernel/crypto.ts';
import { createEmailSeal, type EmailSeal } from '../../packages/service/src/kernel/email-seal.ts';
import { createKeys, derivedKeptKeys, type KeptKeys, type Keys } from '../../packages/service/src/kernel/keys.ts';

/** The kept keys of every gateway that tests run with this secret in their own process. None of them is random. */
export function keptKeysOf(secret: string | Buffer): KeptKeys {
  const bytes = Buffer.from(secret as string);
  return { ...derivedKeptKeys(bytes), emails: deriveKey(bytes, 'emails') };
}

/** The keys of a gateway with this secret, on a database from before keys were kept: so `startTestService` runs its gateways. */
export function keysOf(secret: string | Buffer): Keys {
  return createKeys({ secret: Buffer.from(secret as string) }, keptKeysOf(secret));
}

/** How the gateways that tests run with this secret seal addresses. */
export function emailSealOf(secret: string | Buffer): EmailSeal {
  return createEmailSeal(keptKeysOf(secret).emails);
}

/** The secret of gateways that get no other. */
export const TEST_SECRET = 'the secret of tests that need no other';

/** Lets processes of the service, which read their keys from the database, seal addresses as the test does. Call it before they start. */
export async function keepEmailKey(owner: Pool, secret: string): Promise<void> {
  const bytes = Buffer.from(secret);
  const fingerprint = hmacSha256(deriveKey(bytes, 'secret-fingerprint'), 'purser').subarray(0, 16);
  const sealed = seal(
    deriveKey(bytes, 'kept-keys'),
    Buffer.from('kept key emails'),
    keptKeysOf(bytes).emails.toString('base64'),
  );
  await insertKeptKeys(owner, [{ purpose: 'emails', fingerprint, sealed }]);
  owner.emails = emailSealOf(bytes);
}
