import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { createKnownBrowsers } from '#identities/known-browser.ts';
import { createChallenges } from '#identities/passkey-challenge.ts';
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
  /** Undefined: never yet. */
  readonly lastUsedAtMs: number | undefined;
}

/** Signing in by a passkey, once a person has added one. Nobody needs one: the code from the mail is always there. */
export interface Passkeys {
  /** Passkeys are for a host with a name: there are none where the service is reached by an IP address. */
  readonly isPossible: boolean;
  /** What a browser is asked to make one with. */
  readonly optionsToAdd: (identity: Identity) => Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** Adds what the browser made of these, as JSON. */
  readonly add: (identity: Identity, credential: string) => Promise<Refusal<'BAD_REQUEST'> | undefined>;
  /** What a browser is asked to sign in with. */
  readonly optionsToSignIn: () => PublicKeyCredentialRequestOptionsJSON;
  readonly signIn: (credential: string) => Promise<PersonSignIn | Refusal<'BAD_REQUEST'>>;
  /** The newest first. */
  readonly list: (identityId: IdentityId) => Promise<readonly Passkey[]>;
  readonly remove: (identityId: IdentityId, credentialId: string) => Promise<void>;
}

interface PasskeyOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly secret: Buffer;
  /** Its host is whom passkeys are for: they are worth nothing under another. */
  readonly publicUrl: string;
  readonly operatorName: string;
  /** Tells a person by mail that there is one more. */
  readonly sendAdded: (tx: Queryable, identity: Identity) => Promise<void>;
}

const PASSKEYS_MAX = 10;
/** Ed25519, ECDSA with SHA-256, RSA with SHA-256: what browsers offer, and nothing experimental. */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * 60_000;
const CREDENTIAL_ID = /^[A-Za-z0-9_-]{1,1364}$/;
const SIGN_IN = 'sign-in';
/** A passkey stands for the mailbox, so whoever holds it must show that it is his: by finger, face or PIN. */
const VERIFICATION = 'required';

export function createPasskeys(options: PasskeyOptions): Passkeys {
  const { pool, clock, secret, publicUrl, operatorName, sendAdded } = options;
  const challenges = createChallenges(deriveKey(secret, 'passkey-challenge'), clock);
  const browsers = createKnownBrowsers(secret);
  const { hostname, origin } = new URL(publicUrl);

  /** What a credential must fit, and the challenge that it answers, once it was looked at. */
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
        if (!(await insertPasskey(tx, { identityId: identity.identityId, ...made }))) return false;
        await sendAdded(tx, identity); // None is added of which its person does not hear.
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
    signIn: async (text) => {
      const response = credentialOf(text);
      const row = response && (await selectPasskey(pool, response.id));
      if (row === undefined || response === undefined) return notSignedIn();
      const { answered, by } = expected(SIGN_IN);
      const signCount = await signed(response as AuthenticationResponseJSON, row, by);
      const { challenge } = answered;
      if (signCount === undefined || challenge === undefined) return notSignedIn();
      const opened = await inTransaction(pool, async (tx) => {
        if (!(await answerChallenge(tx, challenge))) return undefined;
        if (!(await advancePasskey(tx, row.credential_id, signCount))) return undefined;
        return createPersonSessions(tx).open(row.email);
      });
      return opened === undefined ? notSignedIn() : { ...opened, known: browsers.issue(row.email) };
    },
    list: async (identityId) => (await selectPasskeysOf(pool, identityId)).map(passkeyOf),
    remove: (identityId, credentialId) => deletePasskey(pool, identityId, credentialId),
  };
}

interface Creation {
  readonly rp: { readonly id: string; readonly name: string };
  readonly identity: Identity;
  /** Those that the person has already: no device makes a second one. */
  readonly others: readonly PasskeyRow[];
  readonly challenge: string;
}

function creationOptions({ rp, identity, others, challenge }: Creation): PublicKeyCredentialCreationOptionsJSON {
  return {
    rp,
    user: { id: handleOf(identity.identityId), name: identity.email, displayName: identity.email },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    excludeCredentials: others.map((row) => ({ id: row.credential_id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: VERIFICATION },
    attestation: 'none', // Who made the device is no business of ours.
  };
}

/** By what a passkey names its person: says nothing of him to whoever reads it from the device. */
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

function purposeOf({ identityId }: Identity): string {
  return `add ${identityId}`;
}

/** Undefined for what is no credential at all. The library looks at all the rest of it, and throws where it is not as it must be. */
function credentialOf(text: string): { readonly id: string } | undefined {
  try {
    const parsed = JSON.parse(text) as { readonly id?: unknown } | null;
    const id = parsed?.id;
    return typeof id === 'string' && CREDENTIAL_ID.test(id) ? { ...parsed, id } : undefined;
  } catch {
    return undefined;
  }
}

interface Expected {
  readonly expectedChallenge: (challenge: string) => boolean;
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
  readonly requireUserVerification: boolean;
}

/** The library takes its time and memory to load: only where somebody has a passkey. */
const loadLibrary = () => import('@simplewebauthn/server');

/** The new passkey; undefined where it is none that was asked for. */
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

/** We ask for none. Looking at some, the library would call whatever address their maker wrote into them. */
async function hasCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  return format !== 'none' && !(format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** How often the passkey says it was used; undefined where this is not its signature. */
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
  return refuse('BAD_REQUEST', 'The passkey was not added. Try once more, or keep to the code from the mail.');
}

function tooMany(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `There are ${PASSKEYS_MAX} passkeys already. Remove one first.`);
}

function notSignedIn(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This passkey did not sign you in. Try once more, or take a code by mail.');
}
