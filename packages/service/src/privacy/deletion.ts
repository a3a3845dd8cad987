import { type ConnectionRow, markDeletion, selectConnectionsOf } from '#connections/queries.ts';
import { releaseWallet } from '#connections/release.ts';
import { deleteSignInsOf } from '#audit/privacy-queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import {
  deleteIdentityRow,
  deleteMovesOf,
  type MoveRow,
  selectMovesOf,
  selectSessionsOf,
} from '#people/privacy-queries.ts';
import {
  deleteCodesOf,
  deletePasskeysOf,
  lockIdentity,
  selectIdentity,
  selectIdentityByEmail,
  selectPasskeysOf,
} from '#people/queries.ts';
import { deleteSessions } from '#people/session-queries.ts';
import type { Email } from '#people/email.ts';
import type { AppId, EndUserId, IdentityId } from '#kernel/values/ids.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import { deleteMessagesTo } from '#mail/privacy-queries.ts';
import { hasWaitingAct } from '#operator/acts/queries.ts';
import { payableIn } from '#payments/processor/amounts.ts';
import { forgetPayer, hasOpenCheckout, type OpenMatter, selectOpenMatters } from '#payments/records/privacy-queries.ts';

/** Why a person cannot be deleted yet. */
export interface Obstacle {
  /**
   * With `money`, it is in the wallet. With `held`, calls hold it. With `debt`, it is owed to the operator. With
   * `gift`, it is a checkout for somebody else's wallet. With `rest`, it is too small to be paid back, and nobody has said that this
   * amount is given up. With `waiting`, an act of an operator waits for a second person.
   */
  readonly kind: 'money' | 'held' | 'debt' | 'gift' | 'rest' | 'waiting' | OpenMatter;
  /** The wallet. It is undefined for a gift. */
  readonly wallet: PersonWallet | undefined;
}

export interface PersonWallet {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly connectionId: ConnectionRow['connection_id'];
  readonly balance: Micros;
  readonly currency: string;
}

/** What a deletion takes away, and what stands in its way. */
export interface Holdings {
  readonly identityId: IdentityId;
  readonly email: string;
  /** The latest changes of the address by an operator. */
  readonly moves: readonly MoveRow[];
  readonly wallets: readonly PersonWallet[];
  readonly sessions: number;
  readonly passkeys: number;
  readonly obstacles: readonly Obstacle[];
  /** The wallets with less than the smallest amount that can be paid back. A deletion gives it up, if somebody has agreed to the amount. */
  readonly rests: readonly PersonWallet[];
}

/** The most that a person gives up in a wallet. It is undefined if they have agreed to nothing there. */
export type Agreed = (wallet: PersonWallet) => Micros | undefined;

const MOVES_SHOWN_MAX = 100;
const MOVES_MAX = 1_000;
/** More wallets than anybody has. */
const WALLETS_MAX = 10_000;
const SESSIONS_MAX = 10_000;
/** The sweep asks for the last time whether a checkout was paid after so many days (`payments/booking/sweep.ts`). */
const CHECKOUT_DAYS = 3;
/** A bank decides a dispute within about ten weeks. */
const DISPUTE_DAYS = 90;

/** What a deletion would do now. It reads, and locks nothing. Undefined if there is no such person. */
export async function holdingsOf(db: Queryable, identityId: IdentityId): Promise<Holdings | undefined> {
  const identity = await selectIdentity(db, identityId);
  if (identity === undefined) return undefined;
  const connections = await selectConnectionsOf(db, identityId, WALLETS_MAX);
  return {
    identityId,
    email: identity.email,
    moves: await selectMovesOf(db, identityId, MOVES_SHOWN_MAX),
    sessions: (await selectSessionsOf(db, identityId, SESSIONS_MAX)).length,
    passkeys: (await selectPasskeysOf(db, identityId)).length,
    ...(await judge(db, identityId, connections)),
  };
}

/**
 * Deletes a person and everything that names them, in the caller's transaction. If the answer has obstacles, roll it back. Undefined:
 * there is no such person. Their wallets are released (WA-15): entries, receipts and payments stay, under the user ids of apps.
 *
 * Locks in the order of everybody else: identity, checkouts, connections, wallets. A consent of this person waits for the identity,
 * and a booking for the connection, so both come before all of this or after it.
 */
export async function deletePerson(
  tx: Queryable,
  identityId: IdentityId,
  agreed: Agreed,
): Promise<Holdings | undefined> {
  const identity = await lockIdentity(tx, identityId);
  if (identity === undefined) return undefined;
  const { email } = identity;
  const connections = await selectConnectionsOf(tx, identityId, WALLETS_MAX);
  const hasGift = await hasOpenCheckout(tx, identityId, CHECKOUT_DAYS);
  const counted = {
    sessions: (await selectSessionsOf(tx, identityId, SESSIONS_MAX)).length,
    passkeys: (await selectPasskeysOf(tx, identityId)).length,
  };
  await forgetPayer(tx, identityId);
  for (const { app_id: appId, user_id: userId } of connections) {
    await releaseWallet(tx, { appId, userId });
    await markDeletion(tx, { appId, userId });
    await createWallets(tx).forgetOwner(appId, userId);
  }
  // Every wallet is locked from here on, so what is found is final.
  const judged = withRests(await judge(tx, identityId, connections, hasGift), agreed);
  if (judged.obstacles.length === 0) await giveUp(tx, judged.rests);
  await deleteSessions(tx, identityId, undefined);
  await deletePasskeysOf(tx, identityId);
  for (const address of await addressesOf(tx, identityId, email)) {
    await deleteCodesOf(tx, address);
    await deleteMessagesTo(tx, address);
  }
  await deleteMovesOf(tx, identityId);
  await deleteSignInsOf(tx, identityId);
  await deleteIdentityRow(tx, identityId);
  return { identityId, email, moves: [], ...counted, ...judged };
}

/** The address of a person, and those from before a move, unless somebody else has them by now. */
async function addressesOf(tx: Queryable, identityId: IdentityId, email: Email): Promise<ReadonlySet<Email>> {
  const own = new Set([email]);
  for (const { before } of await selectMovesOf(tx, identityId, MOVES_MAX)) {
    const owner = await selectIdentityByEmail(tx, before);
    if (owner === undefined || owner.identity_id === identityId) own.add(before);
  }
  return own;
}

/** The rests to which nobody has agreed stand in the way. Less than was agreed to may be given up, and never more. */
function withRests(judged: Judged, agreed: Agreed): Judged {
  const open = judged.rests.filter((wallet) => (agreed(wallet) ?? 0n) < wallet.balance);
  return { ...judged, obstacles: [...judged.obstacles, ...open.map((wallet) => ({ kind: 'rest' as const, wallet }))] };
}

async function giveUp(tx: Queryable, rests: readonly PersonWallet[]): Promise<void> {
  for (const { appId, userId, balance } of rests) {
    const outcome = await createFunding(tx).giveUp({ appId, userId, amount: balance });
    assert(outcome === 'booked', 'the wallet is locked, and calls hold nothing of it');
  }
}

type Judged = Pick<Holdings, 'wallets' | 'obstacles' | 'rests'>;

async function judge(
  db: Queryable,
  identityId: IdentityId,
  connections: readonly ConnectionRow[],
  hasGift?: boolean,
): Promise<Judged> {
  const wallets: PersonWallet[] = [];
  const rests: PersonWallet[] = [];
  const obstacles: Obstacle[] = [];
  for (const { app_id: appId, user_id: userId, connection_id: connectionId } of connections) {
    const found = await createWallets(db).find(appId, userId);
    if (found === undefined) throw new Error('A connection exists without its wallet.');
    const wallet = { appId, userId, connectionId, balance: found.balance, currency: found.currency };
    wallets.push(wallet);
    if (found.balance > 0n && !isPayable(found)) rests.push(wallet);
    const days = { checkout: CHECKOUT_DAYS, dispute: DISPUTE_DAYS };
    const kinds = [...moneyIn(found), ...(await selectOpenMatters(db, { appId, userId }, days))];
    obstacles.push(...kinds.map((kind) => ({ kind, wallet })));
    if (await hasWaitingAct(db, wallet)) obstacles.push({ kind: 'waiting', wallet });
  }
  const isPaying = hasGift ?? (await hasOpenCheckout(db, identityId, CHECKOUT_DAYS));
  if (isPaying && !obstacles.some(({ kind }) => kind === 'checkout')) {
    obstacles.push({ kind: 'gift', wallet: undefined });
  }
  return { wallets, obstacles, rests };
}

/** Whether a wallet has at least the smallest amount that can be paid back in its currency. */
function isPayable({ balance, currency }: Wallet): boolean {
  return balance >= payableIn(currency).unit;
}

function moneyIn(wallet: Wallet): readonly Obstacle['kind'][] {
  const { held, shortfall } = wallet;
  return [
    ...(isPayable(wallet) ? (['money'] as const) : []),
    ...(held > 0n ? (['held'] as const) : []),
    ...(shortfall > 0n ? (['debt'] as const) : []),
  ];
}
