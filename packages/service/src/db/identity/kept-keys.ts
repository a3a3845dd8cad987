import {
  deleteKeptKeys,
  deleteOtherKeptKeys,
  hasLiveInstance,
  insertKeptKeys,
  type KeptKeyRow,
  lockFingerprint,
  selectKeptKeys,
  updateFingerprint,
} from '#db/identity/kept-key-queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { deriveKey, hmacSha256, seal, unseal } from '#kernel/crypto/crypto.ts';
import {
  derivedKeptKeys,
  KEPT_PURPOSES,
  type KeptKeys,
  keptKeysBy,
  newKeptKey,
  RENEWABLE_PURPOSES,
  type Secrets,
} from '#kernel/crypto/keys.ts';

const FINGERPRINT_BYTES = 16;

/** A secret that may open the database. */
interface Opener {
  readonly secret: Buffer;
  readonly fingerprint: Buffer;
  readonly sealKey: Buffer;
}

interface Opened {
  readonly keys: KeptKeys;
  /** Another secret could open the database until now, and no longer can. */
  readonly hasEndedChange: boolean;
}

/**
 * Opens the keys that the database keeps, and makes those that are missing. Each is sealed under every secret of this process,
 * so that processes with either of two secrets open the same keys, in any order. A gateway with one secret alone ends the change
 * (`isGateway`): afterwards no other secret opens this database. Undefined if none of the secrets opens it; nothing is changed then.
 */
export function openKeptKeys(
  owner: Pool,
  secrets: Secrets,
  { isGateway }: { readonly isGateway: boolean },
): Promise<Opened | undefined> {
  return inTransaction(owner, (tx) => open(tx, openersOf(secrets), secrets.secretAlso === undefined && isGateway));
}

/** Seals again what was sealed under kept keys that are new now. */
type Reseal = (tx: Queryable, before: KeptKeys, after: KeptKeys) => Promise<void>;

/**
 * Makes `secret` the only one that opens the database, at once, while no gateway runs. Keys whose work can be done again are made
 * anew, so that a former secret that leaked opens nothing sealed from now on. Keys that nothing can open are given up for
 * new ones only if `isLost`: nothing can bring them back. Changes nothing if it returns a word.
 */
export function replaceSecret(
  owner: Pool,
  secrets: Secrets,
  { isLost, reseal }: { readonly isLost: boolean; readonly reseal: Reseal },
): Promise<'replaced' | 'lost' | 'running' | 'unopened'> {
  return inTransaction(owner, async (tx) => {
    const openers = openersOf(secrets);
    await lockFingerprint(tx); // Before the look at the gateways: one that starts now waits, and then finds the new secret.
    if (await hasLiveInstance(tx)) return 'running';
    const opened = await open(tx, openers, true);
    if (opened === undefined && !isLost) return 'unopened';
    const renewed = opened === undefined ? KEPT_PURPOSES : RENEWABLE_PURPOSES;
    const after = keptKeysBy(
      (purpose) => (renewed.includes(purpose) ? newKeptKey() : opened?.keys[purpose]) ?? newKeptKey(),
    );
    const [own] = openers;
    await deleteKeptKeys(tx, renewed);
    await insertMissing(tx, [own], [], new Map(renewed.map((purpose) => [purpose, after[purpose]])));
    await updateFingerprint(tx, own.fingerprint);
    await reseal(tx, opened?.keys ?? after, after);
    return opened === undefined ? 'lost' : 'replaced';
  });
}

/** Reads one of the keys that the database keeps, and changes nothing. Undefined if there is none that these secrets open. */
export async function readKeptKey(
  db: Queryable,
  secrets: Secrets,
  purpose: keyof KeptKeys,
): Promise<Buffer | undefined> {
  return keysIn(await selectKeptKeys(db), openersOf(secrets))?.get(purpose);
}

async function open(tx: Queryable, openers: Openers, endsChange: boolean): Promise<Opened | undefined> {
  const [own] = openers;
  const before = await lockFingerprint(tx);
  const rows = await selectKeptKeys(tx);
  const found = rows.length === 0 ? firstKeys(before, openers) : keysIn(rows, openers);
  if (found === undefined) return undefined;
  for (const purpose of KEPT_PURPOSES) if (!found.has(purpose)) found.set(purpose, newKeptKey());
  await insertMissing(tx, openers, rows, found);
  const hasEndedChange = endsChange && (await deleteOtherKeptKeys(tx, own.fingerprint)) > 0;
  if (before?.equals(own.fingerprint) !== true) await updateFingerprint(tx, own.fingerprint);
  return { keys: keptKeysBy((purpose) => found.get(purpose) ?? newKeptKey()), hasEndedChange };
}

/** The keys of a database that keeps none yet: it is new, or from before keys were kept. Undefined if it has another secret. */
function firstKeys(before: Buffer | null, openers: Openers): Map<string, Buffer> | undefined {
  if (before === null) return new Map();
  const opener = openers.find(({ fingerprint }) => fingerprint.equals(before));
  return opener && new Map(Object.entries(derivedKeptKeys(opener.secret)));
}

/** Every kept key, also of purposes that only a newer build knows. Undefined if one of them cannot be opened. */
function keysIn(rows: readonly KeptKeyRow[], openers: Openers): Map<string, Buffer> | undefined {
  const keys = new Map<string, Buffer>();
  for (const { purpose, fingerprint, sealed } of rows) {
    const opener = openers.find((one) => one.fingerprint.equals(fingerprint));
    if (opener !== undefined)
      keys.set(purpose, Buffer.from(unseal(opener.sealKey, contextOf(purpose), sealed), 'base64'));
  }
  return rows.every(({ purpose }) => keys.has(purpose)) ? keys : undefined;
}

async function insertMissing(
  tx: Queryable,
  openers: readonly Opener[],
  rows: readonly KeptKeyRow[],
  keys: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const missing = openers.flatMap(({ fingerprint, sealKey }) => {
    const there = new Set(rows.filter((row) => row.fingerprint.equals(fingerprint)).map(({ purpose }) => purpose));
    return [...keys]
      .filter(([purpose]) => !there.has(purpose))
      .map(([purpose, key]) => ({
        purpose,
        fingerprint,
        sealed: seal(sealKey, contextOf(purpose), key.toString('base64')),
      }));
  });
  if (missing.length > 0) await insertKeptKeys(tx, missing);
}

type Openers = readonly [Opener, ...Opener[]];

function openersOf({ secret, secretAlso }: Secrets): Openers {
  return secretAlso === undefined ? [openerOf(secret)] : [openerOf(secret), openerOf(secretAlso)];
}

/** Whether one of the secrets of a process is the one whose fingerprint the database keeps. */
export function hasSecretOf(fingerprint: Buffer, secrets: Secrets): boolean {
  return openersOf(secrets).some((one) => one.fingerprint.equals(fingerprint));
}

/** The fingerprint tells one secret from another and does not reveal it: the key that it is made from is used for nothing else. */
function openerOf(secret: Buffer): Opener {
  const fingerprint = hmacSha256(deriveKey(secret, 'secret-fingerprint'), 'purser').subarray(0, FINGERPRINT_BYTES);
  return { secret, fingerprint, sealKey: deriveKey(secret, 'kept-keys') };
}

function contextOf(purpose: string): Buffer {
  return Buffer.from(`kept key ${purpose}`);
}
