import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { createKnownBrowsers } from '#identities/known-browser.ts';
import { createChallenges, type ReadChallenge } from '#identities/passkey-challenge.ts';
import {
  advancePasskey,
  answerChallenge,
  deletePasskey,
  insertPasskey,
  type PasskeyRow,
  selectPasskey,
  selectPasskeysOf,
} from '#identities/queries.ts';
import { createPersonSessions, type Identity, type PersonSignIn } from '#identities/session.ts';
import type { Clock } from '#kernel/clock.ts';
import { deriveKey } from '#kernel/crypto.ts';
import type { IdentityId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

interface Passkey {
  readonly credentialId: string;
  readonly createdAtMs: number;
  /** Undefined when it was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** Signs people in by passkeys that they have added. Passkeys are optional: the code by mail always works. */
export interface Passkeys {
  /** False when the service is reached by an IP address: WebAuthn needs a host name. */
  readonly isPossible: boolean;
  /** The options with which a browser creates a passkey. */
  readonly optionsToAdd: (identity: Identity) => Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** Adds the passkey that the browser created with these options, given as JSON. */
  readonly add: (identity: Identity, credential: string) => Promise<Refusal<'BAD_REQUEST'> | undefined>;
  /** The options with which a browser signs in. They name no passkeys, so they reveal nobody's. */
  readonly optionsToSignIn: () => PublicKeyCredentialRequestOptionsJSON;
  readonly signIn: (credential: string, from: string) => Promise<PersonSignIn | Refusal<'BAD_REQUEST'>>;
  /** An identity's passkeys, newest first. */
  readonly list: (identityId: IdentityId) => Promise<readonly Passkey[]>;
  readonly remove: (identityId: IdentityId, credentialId: string) => Promise<void>;
}

interface PasskeyOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly secret: Buffer;
  /** Passkeys are bound to its host name and do not work under another one. */
  readonly publicUrl: string;
  readonly operatorName: string;
  /** Tells the person by mail that a passkey was added. */
  readonly sendAdded: (tx: Queryable, identity: Identity) => Promise<void>;
}

const PASSKEYS_MAX = 10;
/** Ed25519, ECDSA with SHA-256, RSA with SHA-256: the algorithms that browsers offer, without experimental ones. */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * 60_000;
const CREDENTIAL_ID = /^[A-Za-z0-9_-]{1,1364}$/;
const SIGN_IN = 'sign-in';
/** A passkey replaces access to the mailbox, so its holder must prove their identity to the device: by finger, face or PIN. */
const VERIFICATION = 'required';

export function createPasskeys(options: PasskeyOptions): Passkeys {
  const { pool, clock, secret, publicUrl, operatorName, sendAdded } = options;
  const challenges = createChallenges(deriveKey(secret, 'passkey-challenge'), clock);
  const browsers = createKnownBrowsers(secret);
  const { hostname, origin } = new URL(publicUrl);

  /**
   * The expectations for the library's check. The library takes no challenge but asks back whether the one in the response
   * is ours; `answered` keeps it, so that it can be used up afterwards.
   */
  function expected(purpose: string) {
    const answered: { challenge?: NonNullable<ReturnType<typeof challenges.read>> } = {};
    const isOurs = (challenge: string): boolean => {
      const read = challenges.read(purpose, challenge);
      if (read !== undefined) answered.challenge = read;
      return read !== undefined;
    };
    const by = { expectedChallenge: isOurs, expectedOrigin: origin, expectedRPID: hostname };
    return { answered, by: { ...by, requireUserVerification: true } };
  }

  return {
    isPossible: isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0,
    optionsToAdd: async (identity) => {
      const others = await selectPasskeysOf(pool, identity.identityId);
      const challenge = challenges.issue(purposeOf(identity));
      return creationOptions({ rp: { id: hostname, name: operatorName }, identity, others, challenge });
    },
    add: async (identity, text) => {
      const response = credentialOf(text);
      if (response === undefined) return notAdded();
      const { answered, by } = expected(purposeOf(identity));
      const made = await registered(response as RegistrationResponseJSON, by);
      const { challenge } = answered;
      if (made === undefined || challenge === undefined) return notAdded();
      if ((await selectPasskeysOf(pool, identity.identityId)).length >= PASSKEYS_MAX) return tooMany();
      const isAdded = await inTransaction(pool, async (tx) => {
        if (!(await answerChallenge(tx, challenge))) return false;
        if (!(await insertPasskey(tx, { ...identity, ...made }))) return false;
        await sendAdded(tx, identity); // In the same transaction: no passkey is added without a mail about it.
        return true;
      });
      return isAdded ? undefined : notAdded();
    },
    optionsToSignIn: () => ({
      challenge: challenges.issue(SIGN_IN),
      rpId: hostname,
      timeout: TIMEOUT_MS,
      userVerification: VERIFICATION,
    }),
    signIn: async (text, from) => {
      const response = credentialOf(text);
      const row = response && (await selectPasskey(pool, response.id));
      if (row === undefined || response === undefined) return notSignedIn();
      const { answered, by } = expected(SIGN_IN);
      const signCount = await signed(response as AuthenticationResponseJSON, row, by);
      const { challenge } = answered;
      if (signCount === undefined || challenge === undefined) {
        await countSignIn(pool, { who: row.identity_id, result: 'refused_passkey', from });
        return notSignedIn();
      }
      const opened = await inTransaction(pool, (tx) => open(tx, row, { challenge, signCount, from }));
      return opened === undefined ? notSignedIn() : { ...opened, known: browsers.issue(row.email) };
    },
    list: async (identityId) => (await selectPasskeysOf(pool, identityId)).map(passkeyOf),
    remove: (identityId, credentialId) => deletePasskey(pool, identityId, credentialId),
  };
}

/** Opens a session for a passkey that has signed. Undefined when its challenge or its count of uses was there before. */
async function open(
  tx: Queryable,
  row: PasskeyRow,
  {
    challenge,
    signCount,
    from,
  }: { readonly challenge: ReadChallenge; readonly signCount: number; readonly from: string },
): Promise<Omit<PersonSignIn, 'known'> | undefined> {
  if (!(await answerChallenge(tx, challenge))) return undefined;
  if (!(await advancePasskey(tx, row.credential_id, signCount))) return undefined;
  await countSignIn(tx, { who: row.identity_id, result: 'signed_in', from });
  return createPersonSessions(tx).open(row.email);
}

interface Creation {
  readonly rp: { readonly id: string; readonly name: string };
  readonly identity: Identity;
  /** The person's other passkeys, so that a device that has one does not create a second. */
  readonly others: readonly PasskeyRow[];
  readonly challenge: string;
}

/**
 * The passkey is stored on the device under the person's e-mail, so that they can find it there.
 * It must be discoverable (`residentKey`), because people sign in without typing an e-mail first.
 */
function creationOptions({ rp, identity, others, challenge }: Creation): PublicKeyCredentialCreationOptionsJSON {
  return {
    rp,
    user: { id: handleOf(identity.identityId), name: identity.email, displayName: identity.email },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    excludeCredentials: others.map((row) => ({ id: row.credential_id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: VERIFICATION },
    attestation: 'none', // We do not need to know who made the device.
  };
}

/** The user handle in a passkey. It is a random id, so reading it from the device reveals nothing about the person. */
function handleOf(identityId: IdentityId): string {
  return Buffer.from(identityId).toString('base64url');
}

function passkeyOf({
  credential_id: credentialId,
  created_at: createdAt,
  last_used_at: lastUsedAt,
}: PasskeyRow): Passkey {
  return { credentialId, createdAtMs: createdAt.getTime(), lastUsedAtMs: lastUsedAt?.getTime() };
}

/** A challenge for adding a passkey is valid for one identity only, so nobody can add theirs to somebody else's wallet. */
function purposeOf({ identityId }: Identity): string {
  return `add ${identityId}`;
}

/** Reads the credential's id. Undefined when the text is no credential. The library checks the rest and throws if it is wrong. */
function credentialOf(text: string): { readonly id: string } | undefined {
  try {
    const parsed = JSON.parse(text) as { readonly id?: unknown } | null;
    const id = parsed?.id;
    return typeof id === 'string' && CREDENTIAL_ID.test(id) ? { ...parsed, id } : undefined;
  } catch {
    return undefined;
  }
}

/** What the library compares a response with. */
interface Expected {
  readonly expectedChallenge: (challenge: string) => boolean;
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
  readonly requireUserVerification: boolean;
}

/** Loaded on first use, because the library takes time and memory and many services never see a passkey. */
const loadLibrary = () => import('@simplewebauthn/server');

/** Checks a new passkey. Undefined when it does not fit the options that we issued. */
async function registered(response: RegistrationResponseJSON, by: Expected) {
  try {
    const { verifyRegistrationResponse } = await loadLibrary();
    if (await hasCertificates(response)) return undefined;
    const made = await verifyRegistrationResponse({ response, ...by, supportedAlgorithmIDs: ALGORITHMS });
    if (!made.verified) return undefined;
    const { id: credentialId, publicKey, counter: signCount } = made.registrationInfo.credential;
    return { credentialId, publicKey: Buffer.from(publicKey), signCount };
  } catch {
    return undefined;
  }
}

/**
 * True when a response carries attestation certificates, which we never ask for. To check some of them, the library would
 * call addresses that the sender wrote into them (server-side request forgery).
 */
async function hasCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  return format !== 'none' && !(format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** Checks a signature and returns the passkey's own use counter. Undefined when the signature is not this passkey's. */
async function signed(
  response: AuthenticationResponseJSON,
  row: PasskeyRow,
  by: Expected,
): Promise<number | undefined> {
  const { credential_id: id, public_key: publicKey, sign_count: counter, identity_id: identityId } = row;
  try {
    const { userHandle } = response.response;
    if (userHandle !== undefined && userHandle !== handleOf(identityId)) return undefined;
    const { verifyAuthenticationResponse } = await loadLibrary();
    const credential = { id, publicKey: new Uint8Array(publicKey), counter: Number(counter) };
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({ response, ...by, credential });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

function notAdded(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The passkey was not added. Try again, or keep signing in with a code by mail.');
}

function tooMany(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `You already have ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** One answer for every cause, so that nobody learns whether a passkey is registered. */
function notSignedIn(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This passkey did not sign you in. Try again, or get a code by mail.');
}
