import { deriveKey, equalBytes, hmacSha256, unseal } from '#kernel/crypto/crypto.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

/** Keys for one purpose. The first one makes proofs; a proof that any of them made is accepted. */
export type ProofKeys = readonly [Buffer, ...Buffer[]];

/** What had a key derived from `PURSER_SECRET` before keys were kept. Databases of that time keep these very keys. */
const DERIVED_PURPOSES = [
  'account-authenticator',
  'account-recovery-code',
  'account-tries',
  'attempts',
  'audit-head',
  'kept-answers',
  'person-tries',
  'provider-cache-key',
  'provider-user',
  'webhook-secrets',
] as const;

/** What needs the same key for as long as the database lives. A purpose that is added here gets a random key at the next start. */
export const KEPT_PURPOSES = [...DERIVED_PURPOSES, 'emails', 'item-ids'] as const;

type KeptPurpose = (typeof KEPT_PURPOSES)[number];

/** The kept keys that `secret replace` makes anew. What they sealed can be sealed again. */
export const RENEWABLE_PURPOSES: readonly KeptPurpose[] = ['account-authenticator', 'audit-head', 'webhook-secrets'];

export type KeptKeys = Readonly<Record<KeptPurpose, Buffer>>;

/** All keys of a process, made once at its start (decision 74). */
export interface Keys {
  /**
   * Returns the keys for proofs that expire: links, forms, cookies, challenges, mailed codes. They are derived from
   * `PURSER_SECRET` and, during a change, from `PURSER_SECRET_ALSO`. Dropping a secret voids what was made with it.
   */
  readonly proof: (purpose: string) => ProofKeys;
  /**
   * Returns the key for what is stored, or looked up by a keyed digest. The database keeps these keys, so a change of
   * the secret voids nothing.
   */
  readonly kept: (purpose: KeptPurpose) => Buffer;
}

/** The secrets of a process. */
export interface Secrets {
  readonly secret: Buffer;
  /** The former or the coming secret, while the secret is being changed. */
  readonly secretAlso?: Buffer | undefined;
}

export function createKeys(secrets: Secrets, kept: KeptKeys): Keys {
  return { proof: proofsOf(secrets), kept: (purpose) => kept[purpose] };
}

/** Makes `Keys.proof` alone, which takes no database. */
export function proofsOf({ secret, secretAlso }: Secrets): Keys['proof'] {
  return (purpose) => {
    const current = deriveKey(secret, purpose);
    return secretAlso === undefined ? [current] : [current, deriveKey(secretAlso, purpose)];
  };
}

export function newKeptKey(): Buffer {
  return randomBytes(32);
}

/** The kept keys of a database from before keys were kept: what was in use is derived from its secret. */
export function derivedKeptKeys(secret: Buffer): KeptKeys {
  const derived: ReadonlySet<string> = new Set(DERIVED_PURPOSES);
  const keyOf = (purpose: KeptPurpose) => (derived.has(purpose) ? deriveKey(secret, purpose) : newKeptKey());
  return keptKeysBy(keyOf);
}

/** A key for each purpose. */
export function keptKeysBy(keyOf: (purpose: KeptPurpose) => Buffer): KeptKeys {
  return Object.fromEntries(KEPT_PURPOSES.map((purpose) => [purpose, keyOf(purpose)])) as KeptKeys;
}

/** Opens what was sealed under one of the keys. Undefined if it was not, or was altered. */
export function unsealAny(keys: ProofKeys, context: Buffer, sealed: Buffer): string | undefined {
  for (const key of keys) {
    try {
      return unseal(key, context, sealed);
    } catch {
      // Sealed under another key, or altered.
    }
  }
  return undefined;
}

/** The key among these under which `proof` is the HMAC of the parts. Undefined if there is none. */
export function keyOfProof(keys: ProofKeys, proof: Buffer, ...parts: readonly (string | Buffer)[]): Buffer | undefined {
  return keys.find((key) => equalBytes(proof, hmacSha256(key, ...parts)));
}
