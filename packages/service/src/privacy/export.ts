import { createAppProfiles } from '#developers/apps/profile.ts';
import { selectActsOf } from '#audit/privacy-queries.ts';
import { selectSignIns } from '#audit/queries.ts';
import { type ConnectionRow, selectAlerts, selectConnectionsOf, selectReleaseMoment } from '#connections/queries.ts';
import { inSnapshot, type Pool, type Queryable } from '#db/pool/pool.ts';
import { selectCreation, selectMovesOf, selectSessionsOf } from '#people/privacy-queries.ts';
import { selectIdentity, selectPasskeysOf } from '#people/queries.ts';
import type { IdentityId } from '#kernel/values/ids.ts';
import { selectWalletState } from '#ledger/overview/operator-queries.ts';
import { walletOf } from '#ledger/wallet/wallet.ts';
import { selectMessagesTo } from '#mail/privacy-queries.ts';
import { selectPayments } from '#payments/refunds/queries.ts';
import { selectCheckoutsBegunBy, selectRefundsOf } from '#payments/records/privacy-queries.ts';
import { historyOf, type WalletHistory } from '#privacy/history.ts';

/** The name of the form of the file. A change that readers must know of gets another number. */
const FORMAT = 'purser-person-1';
/** Rows of each list that is read at once. Nobody has so many; the lists that grow with use are sent as they are read. */
const LISTED_MAX = 10_000;

/** The small lists of the file, and where the long ones begin. */
interface Portrait {
  readonly head: Readonly<Record<string, unknown>>;
  readonly wallets: readonly { readonly facts: Readonly<Record<string, unknown>>; readonly history: WalletHistory }[];
}

/**
 * Everything that is kept about a person, as the pieces of one JSON text. Undefined if there is no such person. The lists that are
 * small are read in one snapshot. Movements and receipts never change, so they are read while the file is sent: those from before
 * the snapshot. Nobody's secret is in it, and nothing from before the wallet was theirs.
 */
export async function readPerson(pool: Pool, identityId: IdentityId): Promise<AsyncGenerator<string> | undefined> {
  const portrait = await inSnapshot(pool, (tx) => portraitOf(tx, identityId));
  return portrait && piecesOf(pool, portrait);
}

async function* piecesOf(pool: Pool, { head, wallets }: Portrait): AsyncGenerator<string> {
  // The last brace of the head is left open for the wallets.
  yield `${jsonOf(head).slice(0, -1)},"wallets":[`;
  for (const [index, { facts, history }] of wallets.entries()) {
    yield `${index === 0 ? '' : ','}\n${jsonOf(facts).slice(0, -1)}`;
    for (const [name, batches] of Object.entries(historyOf(pool, history))) {
      yield `,"${name}":[`;
      let isFirst = true;
      for await (const batch of batches) {
        if (batch.length === 0) continue;
        yield (isFirst ? '\n' : ',\n') + batch.map(jsonOf).join(',\n');
        isFirst = false;
      }
      yield ']';
    }
    yield '}';
  }
  yield ']}\n';
}

/** Amounts are far below 2^53 (the database sees to it), so numbers hold them. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? Number(one) : one));
}

async function portraitOf(tx: Queryable, identityId: IdentityId): Promise<Portrait | undefined> {
  const identity = await selectIdentity(tx, identityId);
  const created = await selectCreation(tx, identityId);
  if (identity === undefined || created === undefined) return undefined;
  const passkeys = await selectPasskeysOf(tx, identityId);
  const sessions = await selectSessionsOf(tx, identityId, LISTED_MAX);
  const signIns = await selectSignIns(tx, { who: identityId, before: undefined, most: LISTED_MAX });
  const mails = await selectMessagesTo(tx, identity.email, LISTED_MAX);
  const acts = await selectActsOf(tx, identityId, LISTED_MAX);
  const begun = await selectCheckoutsBegunBy(tx, identityId, LISTED_MAX);
  const head = {
    format: FORMAT,
    exportedAt: created.read_at,
    identity: { identityId, email: identity.email, createdAt: created.created_at },
    moves: await selectMovesOf(tx, identityId, LISTED_MAX),
    passkeys: passkeys.map((one) => ({ addedAt: one.created_at, lastUsedAt: one.last_used_at })),
    sessions: sessions.map((one) => ({
      createdAt: one.created_at,
      lastUsedAt: one.last_used_at,
      expiresAt: one.expires_at,
    })),
    signIns: signIns.map(({ minute, result, address, count }) => ({ at: minute, result, from: address, count })),
    mails: mails.map((one) => ({ subject: one.subject, createdAt: one.created_at, outcome: one.outcome })),
    acts,
    checkouts: begun.map((one) => ({
      checkoutId: one.checkout_id,
      appId: one.app_id,
      amountMicros: one.amount_micros,
      currency: one.currency,
      createdAt: one.created_at,
      paidAt: one.paid_at,
    })),
  };
  const wallets: Portrait['wallets'][number][] = [];
  for (const connection of await selectConnectionsOf(tx, identityId, LISTED_MAX)) {
    wallets.push(await walletIn(tx, connection, created.read_at));
  }
  return { head, wallets };
}

async function walletIn(tx: Queryable, connection: ConnectionRow, until: Date): Promise<Portrait['wallets'][number]> {
  const { app_id: appId, user_id: userId, connection_id: connectionId } = connection;
  const row = await selectWalletState(tx, { appId, userId });
  if (row === undefined) throw new Error('A connection exists without its wallet.');
  const wallet = walletOf(row);
  const app = await createAppProfiles(tx).find(appId);
  // An owner before them may have left entries in it. They are another person's.
  const since = await selectReleaseMoment(tx, { appId, userId });
  const all = await selectPayments(tx, { appId, userId, processor: undefined }, LISTED_MAX);
  const payments = all.filter((one) => since === undefined || one.paid_at > since);
  const refunds = await selectRefundsOf(
    tx,
    payments.map((one) => one.payment_id),
    LISTED_MAX,
  );
  const facts = {
    connectionId,
    appId,
    appName: app?.name ?? null,
    userId,
    userLabel: connection.user_label,
    connectedAt: connection.consented_at,
    connected: wallet.isConnected,
    suspended: wallet.isSuspended,
    paused: connection.is_paused,
    currency: wallet.currency,
    balanceMicros: wallet.balance,
    reservedMicros: wallet.held,
    availableMicros: wallet.available,
    spendCapMicros: (connection.is_paused ? connection.cap_before_pause_micros : wallet.cap) ?? null,
    spentThisMonthMicros: wallet.spentThisMonth,
    alertPercents: await selectAlerts(tx, connectionId),
    payments: payments.map((one) => ({
      paymentId: one.payment_id,
      amountMicros: one.amount_micros,
      currency: one.currency,
      state: one.state,
      refundedMicros: one.refunded_micros,
      disputedMicros: one.disputed_micros,
      paidAt: one.paid_at,
    })),
    refunds: refunds.map((one) => ({
      refundId: one.refund_id,
      paymentId: one.payment_id,
      amountMicros: one.amount_micros,
      state: one.state,
      createdAt: one.created_at,
      endedAt: one.ended_at,
    })),
  };
  const history = {
    appId,
    userId,
    walletId: wallet.walletId,
    before: row.entry_seq + 1n,
    since,
    untilMs: until.getTime(),
  };
  return { facts, history };
}
