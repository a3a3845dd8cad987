import { deriveKey } from '../../packages/service/src/kernel/crypto.ts';
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
