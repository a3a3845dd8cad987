import { selectAppDetails } from '#accounts/operator-queries.ts';
import type { Facts } from '#audit/entry.ts';
import { inSnapshot, type Pool, type Queryable } from '#db/pool.ts';
import { unreachable } from '#kernel/assert.ts';
import type { AppId, EndUserId, PaymentId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import type { CreditOutcome, ReinstateOutcome, TakeBackOutcome } from '#ledger/funding/queries.ts';
import {
  type EntryRow,
  type HoldRow,
  selectEntriesOfWallet,
  selectHoldsOfWallet,
} from '#ledger/wallet/history-queries.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';
import { type PaymentRefusal, refundPayment } from '#operator/payments.ts';
import { closeSuspensions } from '#payments/case-queries.ts';
import type { Refunds } from '#payments/refund.ts';

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

interface Amount {
  readonly amount: Micros;
  /** Idempotency key: counts once for each wallet and kind of act. */
  readonly key: string;
}

export interface WalletDetails {
  readonly wallet: Wallet;
  /** The oldest 1,000. */
  readonly holds: readonly HoldRow[];
  /** The newest first. */
  readonly entries: readonly EntryRow[];
  /** Pass it as `before` to get older entries; undefined on the last page. */
  readonly next: bigint | undefined;
}

interface EntryPage {
  readonly before: bigint | undefined;
  readonly most: number;
}

interface NewWallet extends WalletName {
  readonly cap: Micros | undefined;
  /** A first credit. */
  readonly credit: Amount | undefined;
}

type MovementRefusal = Refusal<'NOT_FOUND' | 'CONFLICT'>;

/** All real wallets of the service, as operators see and change them. Sandbox wallets are not among them. */
export interface OperatorWallets {
  /** A wallet with its holds and a page of its entries, all of one moment. Undefined if there is no such wallet. */
  readonly find: (name: WalletName, page: EntryPage) => Promise<WalletDetails | undefined>;
  /** Opens a connected wallet for a user who agreed elsewhere, with a first credit if one is given: both or neither. */
  readonly open: (act: Act, wallet: NewWallet) => Promise<Wallet | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
  /** Puts money into a wallet that was paid outside the processor. */
  readonly credit: (act: Act, movement: WalletName & Amount) => Promise<Wallet | MovementRefusal>;
  /**
   * Without `paymentId`, books money that was returned to the user outside the processor. With it, asks the processor to
   * pay that payment back; the refund is booked when the processor has paid it.
   */
  readonly refund: (
    act: Act,
    movement: WalletName & Amount & { readonly paymentId: PaymentId | undefined },
  ) => Promise<Wallet | PaymentRefusal>;
  /** Books money that a bank took back. What the balance does not cover suspends the wallet (WA-05). */
  readonly clawBack: (act: Act, movement: WalletName & Amount) => Promise<Wallet | MovementRefusal>;
  /** Lifts a suspension. Refused while there is a shortfall that the balance cannot cover and nobody writes off (WA-06). */
  readonly reinstate: (
    act: Act,
    wallet: WalletName & { readonly writesOff: boolean },
  ) => Promise<Wallet | MovementRefusal>;
}

const HOLDS_MAX = 1_000;

interface OperatorWalletsOptions {
  readonly pool: Pool;
  readonly currency: string;
  /** Undefined if no payment processor is configured. */
  readonly refunds: Refunds | undefined;
}

export function createOperatorWallets({ pool, currency, refunds }: OperatorWalletsOptions): OperatorWallets {
  /** Moves money and returns the wallet. A repeat with the same key changes nothing and gets the same answer. */
  async function move(
    act: Act & { readonly action: string },
    movement: WalletName & Amount,
    run: (tx: Queryable) => Promise<CreditOutcome | TakeBackOutcome>,
  ): Promise<Wallet | MovementRefusal> {
    const done = await audited<CreditOutcome | MovementRefusal>(
      pool,
      { ...act, subject: subjectOf(movement) },
      async (tx, note) => {
        // Without a lock, so that calls of the wallet wait only for the movement itself: calls that end at this moment may lie
        // between the two states. The ledger has their order.
        const before = await read(tx, movement);
        const outcome = await run(tx);
        note({ amount: movement.amount, before: stateOf(before), after: stateOf(await read(tx, movement)) });
        return refusalOf(outcome) ?? (outcome === 'repeated' ? new Repeated(outcome) : outcome);
      },
    );
    // Read after the commit, because calls wait for the wallet's lock until then.
    return done instanceof Refusal ? done : read(pool, movement);
  }

  return {
    find: ({ appId, userId }, { before, most }) =>
      inSnapshot(pool, async (tx) => {
        const wallet = await createWallets(tx).find(appId, userId);
        if (wallet === undefined) return undefined;
        const { walletId } = wallet;
        const holds = await selectHoldsOfWallet(tx, walletId, HOLDS_MAX);
        const found = await selectEntriesOfWallet(tx, walletId, { before, most: most + 1 });
        const entries = found.slice(0, most);
        return { wallet, holds, entries, next: found.length > most ? entries.at(-1)?.seq : undefined };
      }),
    open: (act, wallet) => open({ pool, currency }, act, wallet),
    credit: (act, movement) =>
      move({ ...act, action: 'wallet.credit' }, movement, (tx) =>
        createFunding(tx).credit({ ...movement, kind: 'contract_credit' }),
      ),
    refund: async (act, { paymentId, ...movement }) => {
      const named = { ...act, action: 'wallet.refund' };
      if (paymentId === undefined) {
        return move(named, movement, (tx) => createFunding(tx).takeBack({ ...movement, kind: 'refund' }));
      }
      const subject = `${subjectOf(movement)} ${paymentId}`;
      const refused = await refundPayment({ pool, refunds }, { ...named, subject }, { ...movement, paymentId });
      return refused ?? read(pool, movement);
    },
    clawBack: (act, movement) =>
      move({ ...act, action: 'wallet.clawback' }, movement, (tx) =>
        createFunding(tx).takeBack({ ...movement, kind: 'claw_back' }),
      ),
    reinstate: (act, wallet) => reinstate(pool, act, wallet),
  };
}

/** Opens a wallet, with its first credit if there is one. */
function open(
  { pool, currency }: Pick<OperatorWalletsOptions, 'pool' | 'currency'>,
  act: Act,
  { appId, userId, cap, credit }: NewWallet,
): Promise<Wallet | Refusal<'NOT_FOUND' | 'CONFLICT'>> {
  return audited(pool, { ...act, action: 'wallet.open', subject: subjectOf({ appId, userId }) }, async (tx, note) => {
    if ((await selectAppDetails(tx, appId)) === undefined) return refuse('NOT_FOUND', 'There is no such app.');
    // An opening never changes an existing wallet, not even an empty one.
    const isNew = await createWallets(tx).open({ appId, userId, currency, cap });
    if (!isNew) return refuse('CONFLICT', 'This user already has a wallet for this app.');
    if (credit !== undefined) {
      // Callers' keys cannot contain a space, so no later credit can have the key of the opening.
      const first = { ...credit, key: `open ${credit.key}` };
      const outcome = await createFunding(tx).credit({ appId, userId, kind: 'contract_credit', ...first });
      const refusal = refusalOf(outcome);
      if (refusal !== undefined) return refusal;
    }
    const wallet = await read(tx, { appId, userId });
    note({ amount: credit?.amount, after: stateOf(wallet) });
    return wallet;
  });
}

/** Lifts a suspension. A wallet that is neither suspended nor short is left as it is, and no act is recorded. */
async function reinstate(
  pool: Pool,
  act: Act,
  wallet: WalletName & { readonly writesOff: boolean },
): Promise<Wallet | MovementRefusal> {
  const named = { ...act, action: 'wallet.reinstate', subject: subjectOf(wallet) };
  const done = await audited<ReinstateOutcome | MovementRefusal>(pool, named, async (tx, note) => {
    const before = await createWallets(tx).find(wallet.appId, wallet.userId);
    if (before !== undefined && !before.isSuspended && before.shortfall === 0n) return new Repeated('reinstated');
    const outcome = await createFunding(tx).reinstate(wallet);
    if (outcome === 'no_wallet') return noWallet();
    if (outcome === 'reinstated') {
      await closeSuspensions(tx, wallet);
      const after = await read(tx, wallet);
      const writtenOff = wallet.writesOff ? before?.shortfall : undefined;
      note({ amount: writtenOff, before: before && stateOf(before), after: stateOf(after) });
      return outcome;
    }
    return refuse('CONFLICT', 'The wallet has a shortfall that its balance does not cover. Write it off, or wait.');
  });
  return done instanceof Refusal ? done : read(pool, wallet);
}

async function read(db: Queryable, { appId, userId }: WalletName): Promise<Wallet | Refusal<'NOT_FOUND'>> {
  return (await createWallets(db).find(appId, userId)) ?? noWallet();
}

/** What acts change of a wallet, for the audit trail. */
function stateOf(wallet: Wallet | Refusal): Facts | undefined {
  if (wallet instanceof Refusal) return undefined;
  return {
    balanceMicros: wallet.balance,
    shortfallMicros: wallet.shortfall,
    spendCapMicros: wallet.cap ?? null,
    isSuspended: wallet.isSuspended,
    isConnected: wallet.isConnected,
  };
}

function subjectOf({ appId, userId }: WalletName): string {
  return `${appId} ${userId}`;
}

function refusalOf(outcome: CreditOutcome | TakeBackOutcome): MovementRefusal | undefined {
  switch (outcome) {
    case 'no_wallet':
      return noWallet();
    case 'conflict':
      return refuse('CONFLICT', 'This idempotency key was used for another amount.', { param: 'idempotencyKey' });
    case 'too_much':
      return refuse('CONFLICT', 'The balance would exceed the largest possible amount.', { param: 'amountMicros' });
    case 'booked':
    case 'repeated':
      return undefined;
    default:
      return unreachable(outcome);
  }
}

function noWallet(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'This user has no wallet for this app.');
}
