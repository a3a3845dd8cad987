import { digestOfApiKey, hintOfApiKey, newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { type KeySettings, NO_SETTINGS } from '../../packages/service/src/developers/keys/settings.ts';
import { insertKey } from '../../packages/service/src/developers/keys/queries.ts';
import type { Config } from '../../packages/service/src/app/settings/config.ts';
import { insertKeptKeys, selectKeptKeys } from '../../packages/service/src/db/identity/kept-key-queries.ts';
import { openKeptKeys } from '../../packages/service/src/db/identity/kept-keys.ts';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { deriveKey, hmacSha256, seal } from '../../packages/service/src/kernel/crypto/crypto.ts';
import { createEmailSeal } from '../../packages/service/src/kernel/values/email-seal.ts';
import { type AppId, type EndUserId, type KeyId, newKeyId } from '../../packages/service/src/kernel/values/ids.ts';
import {
  createKeys,
  derivedKeptKeys,
  type KeptKeys,
  type Keys,
} from '../../packages/service/src/kernel/crypto/keys.ts';

/** The secret of gateways that get no other. */
export const TEST_SECRET = 'the secret of tests that need no other';

/** The setting of gateways that share theirs. */
export const SHARED_SECRET = { PURSER_SECRET: 'one secret for all processes of the service' };

/** Seals the addresses of all test databases. Gateways with any secret have it, because tests read and write rows beside several of them. */
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

/** Keeps the tests' key in a database that has none yet: gateways in processes of their own then seal addresses as the test does. */
export async function keepEmailKey(owner: Pool, secret: Buffer): Promise<void> {
  if ((await selectKeptKeys(owner)).some(({ purpose }) => purpose === 'emails')) return;
  const fingerprint = hmacSha256(deriveKey(secret, 'secret-fingerprint'), 'purser').subarray(0, 16);
  const sealed = seal(deriveKey(secret, 'kept-keys'), Buffer.from('kept key emails'), EMAILS.toString('base64'));
  await insertKeptKeys(owner, [{ purpose: 'emails', fingerprint, sealed }]);
}

/**
 * The kept keys of a gateway in this process. If the test chose the secret, the database keeps them, as for a gateway in a process
 * of its own: the two must find each other's retries. Otherwise the secret is one of many on this database, and they are derived.
 */
export async function keptKeysFor(
  { owner }: { readonly owner: Pool },
  config: Config,
  { PURSER_SECRET }: Readonly<Record<string, string>>,
): Promise<KeptKeys> {
  if (PURSER_SECRET === undefined) return keptKeysOf(config.secret);
  await keepEmailKey(owner, config.secret);
  return (await openKeptKeys(owner, config, { isGateway: true }))?.keys ?? keptKeysOf(config.secret);
}

/** An API key of the app that joins calls with the same body (CC-14). */
export async function addJoiningKey(
  { owner }: { readonly owner: Pool },
  { appId }: { readonly appId: AppId },
): Promise<string> {
  const apiKey = newApiKey('live');
  const key = { keyId: newKeyId(), appId, digest: digestOfApiKey(apiKey), mode: 'live', hint: 'x' } as const;
  await insertKey(owner, { ...key, joinSeconds: 30 }, 1n);
  return apiKey;
}

/** A live API key of the app for one user, and its id. */
export async function addBoundKey(
  { owner }: { readonly owner: Pool },
  { appId }: { readonly appId: AppId },
  user: string,
  settings: Partial<KeySettings> = {},
): Promise<{ readonly apiKey: string; readonly keyId: KeyId }> {
  const apiKey = newApiKey('live');
  const keyId = newKeyId();
  const key = { keyId, appId, digest: digestOfApiKey(apiKey), mode: 'live', hint: hintOfApiKey(apiKey) } as const;
  await insertKey(owner, { ...key, boundUser: user as EndUserId, settings: { ...NO_SETTINGS, ...settings } }, 1n);
  return { apiKey, keyId };
}
