import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Clock } from '#kernel/time/clock.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { createChallenges, type ReadChallenge } from '#webauthn/challenge.ts';

/** Who a new passkey is for. */
interface PasskeyHolder {
  /** The random id of the holder. The device keeps it, so reading it there reveals nothing about the person. */
  readonly id: string;
  /** The e-mail under which the holder finds the passkey on their device. */
  readonly name: string;
  readonly displayName: string;
}

/** A passkey as it is stored. */
interface StoredPasskey {
  readonly credentialId: string;
  readonly holderId: string;
  readonly publicKey: Buffer;
  readonly signCount: bigint;
}

/** A new passkey that fits the options. Its challenge must be used up in the transaction that stores it. */
interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly challenge: ReadChallenge;
}

/** What a browser sent: JSON with the id of a credential. The library checks the rest. */
type Credential = { readonly id: string };

/** Makes options for browsers and checks what they answer. Stores nothing. */
export interface PasskeyChecks {
  /**
   * Tells whether passkeys are possible. It is false when the service is reached by an IP address, because WebAuthn
   * needs a host name.
   */
  readonly isPossible: boolean;
  /**
   * The options with which a browser creates a passkey. It is discoverable (`residentKey`), because people sign in without
   * typing an e-mail first. `others`: the holder's passkeys, so that a device that has one does not create a second.
   */
  readonly optionsToAdd: (
    purpose: string,
    holder: PasskeyHolder,
    others: readonly string[],
  ) => PublicKeyCredentialCreationOptionsJSON;
  /** Checks a new passkey. Undefined when it does not fit the options that we issued. */
  readonly added: (purpose: string, credential: string) => Promise<NewPasskey | undefined>;
  /** The options with which a browser uses a passkey. Without `allowed` they name none, so they reveal nobody's. */
  readonly optionsToUse: (purpose: string, allowed?: readonly string[]) => PublicKeyCredentialRequestOptionsJSON;
  /** Reads the credential's id. Undefined when the text is no credential. */
  readonly read: (credential: string) => Credential | undefined;
  /** Checks a signature. Returns the passkey's own count of uses, and the challenge to use up. Undefined when it is not right. */
  readonly used: (
    purpose: string,
    credential: Credential,
    stored: StoredPasskey,
  ) => Promise<{ readonly signCount: number; readonly challenge: ReadChallenge } | undefined>;
}

interface PasskeyCheckOptions {
  readonly clock: Clock;
  /** The keys of the challenges. Each user of this folder has others. */
  readonly keys: ProofKeys;
  /** Passkeys are bound to its host name and do not work under another one. */
  readonly publicUrl: string;
  readonly operatorName: string;
}

/** The most that one person may have. */
export const PASSKEYS_MAX = 10;
/**
 * The algorithms are Ed25519, ECDSA with SHA-256 and RSA with SHA-256: those that browsers offer, without experimental
 * ones.
 */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * 60_000;
const CREDENTIAL_ID = /^[A-Za-z0-9_-]{1,1364}$/;
/** A passkey stands for a mailbox or a password, so its holder must prove their identity to the device: by finger, face or PIN. */
const VERIFICATION = 'required';

export function createPasskeyChecks({ clock, keys, publicUrl, operatorName }: PasskeyCheckOptions): PasskeyChecks {
  const challenges = createChallenges(keys, clock);
  const { hostname, origin } = new URL(publicUrl);

  /**
   * The expectations for the library's check. The library takes no challenge but asks back whether the one in the response
   * is ours; `answered` keeps it, so that it can be used up afterwards.
   */
  function expected(purpose: string) {
    const answered: { challenge?: ReadChallenge } = {};
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
    optionsToAdd: (purpose, { id, name, displayName }, others) => ({
      rp: { id: hostname, name: operatorName },
      user: { id: handleOf(id), name, displayName },
      challenge: challenges.issue(purpose),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
      timeout: TIMEOUT_MS,
      excludeCredentials: others.map((other) => ({ id: other, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: VERIFICATION },
      attestation: 'none', // We do not need to know who made the device.
    }),
    added: async (purpose, text) => {
      const response = credentialOf(text);
      if (response === undefined) return undefined;
      const { answered, by } = expected(purpose);
      const made = await registered(response as RegistrationResponseJSON, by);
      const { challenge } = answered;
      return made === undefined || challenge === undefined ? undefined : { ...made, challenge };
    },
    optionsToUse: (purpose, allowed) => ({
      challenge: challenges.issue(purpose),
      rpId: hostname,
      timeout: TIMEOUT_MS,
      userVerification: VERIFICATION,
      ...(allowed === undefined
        ? {}
        : { allowCredentials: allowed.map((id) => ({ id, type: 'public-key' as const })) }),
    }),
    read: credentialOf,
    used: async (purpose, credential, stored) => {
      const { answered, by } = expected(purpose);
      const signCount = await signed(credential as AuthenticationResponseJSON, stored, by);
      const { challenge } = answered;
      return signCount === undefined || challenge === undefined ? undefined : { signCount, challenge };
    },
  };
}

function handleOf(holderId: string): string {
  return Buffer.from(holderId).toString('base64url');
}

/** Reads the credential's id. Undefined when the text is no credential. The library checks the rest and throws if it is wrong. */
function credentialOf(text: string): Credential | undefined {
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

/** The library is loaded on first use, because it takes time and memory and many services never see a passkey. */
const loadLibrary = () => import('@simplewebauthn/server');

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
 * Returns true when a response carries attestation certificates, which we never ask for. To check some of them, the
 * library would call addresses that the sender wrote into them (server-side request forgery).
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
  stored: StoredPasskey,
  by: Expected,
): Promise<number | undefined> {
  const { credentialId: id, publicKey, signCount, holderId } = stored;
  try {
    const { userHandle } = response.response;
    if (userHandle !== undefined && userHandle !== handleOf(holderId)) return undefined;
    const { verifyAuthenticationResponse } = await loadLibrary();
    const credential = { id, publicKey: new Uint8Array(publicKey), counter: Number(signCount) };
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({ response, ...by, credential });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
