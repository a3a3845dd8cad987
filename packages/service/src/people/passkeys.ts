import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { createKnownBrowsers } from '#people/known-browser.ts';
import {
  advancePasskey,
  answerChallenge,
  deletePasskey,
  insertPasskey,
  type PasskeyRow,
  selectPasskey,
  selectPasskeysOf,
} from '#people/queries.ts';
import { createPersonSessions, type Identity, type PersonSignIn } from '#people/session.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { IdentityId } from '#kernel/values/ids.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ReadChallenge } from '#webauthn/challenge.ts';
import { createPasskeyChecks, type PasskeyChecks, PASSKEYS_MAX } from '#webauthn/passkey-checks.ts';

interface Passkey {
  readonly credentialId: string;
  readonly createdAtMs: number;
  /** When the passkey was last used. It is undefined when it was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** Signs people in by passkeys that they have added. Passkeys are optional: the code by mail always works. */
export interface Passkeys {
  /**
   * Tells whether passkeys are possible. It is false when the service is reached by an IP address, because WebAuthn
   * needs a host name.
   */
  readonly isPossible: boolean;
  /** The options with which a browser creates a passkey. */
  readonly optionsToAdd: (identity: Identity) => Promise<ReturnType<PasskeyChecks['optionsToAdd']>>;
  /** Adds the passkey that the browser created with these options, given as JSON. */
  readonly add: (identity: Identity, credential: string) => Promise<Refusal<'BAD_REQUEST'> | undefined>;
  /** The options with which a browser signs in. They name no passkeys, so they reveal nobody's. */
  readonly optionsToSignIn: () => ReturnType<PasskeyChecks['optionsToUse']>;
  readonly signIn: (credential: string, from: string) => Promise<PersonSignIn | Refusal<'BAD_REQUEST'>>;
  /** An identity's passkeys, newest first. */
  readonly list: (identityId: IdentityId) => Promise<readonly Passkey[]>;
  readonly remove: (identityId: IdentityId, credentialId: string) => Promise<void>;
}

interface PasskeyOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keys: Keys;
  /** Passkeys are bound to its host name and do not work under another one. */
  readonly publicUrl: string;
  readonly operatorName: string;
  /** Tells the person by mail that a passkey was added. */
  readonly sendAdded: (tx: Queryable, identity: Identity) => Promise<void>;
}

const SIGN_IN = 'sign-in';

export function createPasskeys(options: PasskeyOptions): Passkeys {
  const { pool, keys, sendAdded } = options;
  const checks = createPasskeyChecks({ ...options, keys: keys.proof('passkey-challenge') });
  const browsers = createKnownBrowsers(keys);

  return {
    isPossible: checks.isPossible,
    optionsToAdd: async (identity) => {
      const others = await selectPasskeysOf(pool, identity.identityId);
      const holder = { id: identity.identityId, name: identity.email, displayName: identity.email };
      return checks.optionsToAdd(
        purposeOf(identity),
        holder,
        others.map((row) => row.credential_id),
      );
    },
    add: async (identity, text) => {
      const made = await checks.added(purposeOf(identity), text);
      if (made === undefined) return notAdded();
      if ((await selectPasskeysOf(pool, identity.identityId)).length >= PASSKEYS_MAX) return tooMany();
      const isAdded = await inTransaction(pool, async (tx) => {
        if (!(await answerChallenge(tx, made.challenge))) return false;
        if (!(await insertPasskey(tx, { ...identity, ...made }))) return false;
        await sendAdded(tx, identity); // In the same transaction: no passkey is added without a mail about it.
        return true;
      });
      return isAdded ? undefined : notAdded();
    },
    optionsToSignIn: () => checks.optionsToUse(SIGN_IN),
    signIn: async (text, from) => {
      const credential = checks.read(text);
      const row = credential && (await selectPasskey(pool, credential.id));
      if (row === undefined || credential === undefined) return notSignedIn();
      const used = await checks.used(SIGN_IN, credential, {
        credentialId: row.credential_id,
        holderId: row.identity_id,
        publicKey: row.public_key,
        signCount: row.sign_count,
      });
      if (used === undefined) {
        await countSignIn(pool, { who: row.identity_id, result: 'refused_passkey', from });
        return notSignedIn();
      }
      const opened = await inTransaction(pool, (tx) => open(tx, row, { ...used, from }));
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

function notAdded(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The passkey was not added. Try again, or keep signing in with a code by e-mail.');
}

function tooMany(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `You already have ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** One answer for every cause, so that nobody learns whether a passkey is registered. */
function notSignedIn(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'This passkey did not sign you in. Try again, or get a code by e-mail.');
}
