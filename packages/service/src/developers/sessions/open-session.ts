import type { AccountRow } from '#developers/accounts/queries.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import type { Devices } from '#developers/sessions/device.ts';
import { accountOf, openSession, openSsoSession, type SignIn } from '#developers/sessions/session.ts';
import { countSignIn, hasSignedInFrom } from '#audit/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';

/** The place from which a person signs in. */
export interface SignInPlace {
  /** The network address of the caller. */
  readonly from: string;
  /** What the browser got when it last signed in. */
  readonly device: string | undefined;
  /** Programs keep no cookie: the network address alone says whether they are known. */
  readonly isProgram: boolean;
}

/** The account as a sign-in needs it. Undefined when there is none, or when it cannot sign in. */
export function knownOf(row: AccountRow | undefined) {
  if (row === undefined || row.password_hash === null) return undefined;
  return { accountId: row.account_id, passwordHash: row.password_hash };
}

/** Opens a session for a person who has shown who they are. Undefined when the account was disabled or its password has changed. */
export type OpenSession = (
  tx: Queryable,
  row: AccountRow,
  /** `isTold` is true if another mail tells of this sign-in. */
  place: SignInPlace & { readonly isTold?: boolean },
) => Promise<SignIn | undefined>;

/** The person who has just made an account knows that they sign in. Somebody else makes the account of an operator. */
const NEW_ACCOUNT_MS = 60 * 60 * 1_000;

interface OpeningOptions {
  readonly clock: Clock;
  readonly devices: Devices;
  readonly sendNews: SendNews;
}

export function createSessionOpening(options: OpeningOptions): OpenSession {
  const arrive = createArrival(options);
  return async (tx, row, place) => {
    const known = knownOf(row);
    const opened = known && (await openSession(tx, known));
    if (known === undefined || opened === undefined) return undefined;
    return { ...opened, ...(await arrive(tx, row, place, known)) };
  };
}

/** Opens a session for a person whom the provider signed in. Undefined when the account was disabled meanwhile. */
export type OpenSsoSession = (
  tx: Queryable,
  row: AccountRow,
  person: { readonly subject: string; readonly authTimeMs: number | undefined },
  place: SignInPlace,
) => Promise<SignIn | undefined>;

export function createSsoOpening(options: OpeningOptions): OpenSsoSession {
  const arrive = createArrival(options);
  return async (tx, row, { subject, authTimeMs }, place) => {
    const opened = await openSsoSession(tx, { accountId: row.account_id, authTimeMs });
    // There is no password hash. No password hash looks like this.
    const known = { accountId: row.account_id, passwordHash: `sso ${subject}` };
    return opened && { ...opened, ...(await arrive(tx, row, place, known)) };
  };
}

/** Counts a sign-in, mails its holder if the browser is not known, and makes it known. */
function createArrival({ clock, devices, sendNews }: OpeningOptions) {
  type Known = NonNullable<ReturnType<typeof knownOf>>;

  async function isStrange(tx: Queryable, row: AccountRow, place: SignInPlace, known: Known): Promise<boolean> {
    if (devices.nameOf(place.device, known) !== undefined) return false;
    const isOwnMaking = row.role === 'owner' || accountOf(row).isSso;
    if (isOwnMaking && clock.nowMs() - row.created_at.getTime() < NEW_ACCOUNT_MS) return false;
    return !place.isProgram || !(await hasSignedInFrom(tx, row.account_id, place.from));
  }

  return async (tx: Queryable, row: AccountRow, place: Parameters<OpenSession>[2], known: Known) => {
    if (place.isTold !== true && (await isStrange(tx, row, place, known)))
      await sendNews(tx, row.email, { kind: 'signed-in', from: place.from });
    await countSignIn(tx, { who: row.account_id, result: 'signed_in', from: place.from });
    return { account: accountOf(row), device: devices.issue(known) };
  };
}
