import { selectAppDetails } from '#accounts/operator-queries.ts';
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
import type { Refunds } from '#payments/refund.ts';

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

interface Amount {
  readonly amount: Micros;
  /** Counts once for each wallet and kind of act. */
  readonly key: string;
}

export interface WalletDetails {
  readonly wallet: Wallet;
  /** The oldest 1,000. */
  readonly holds: readonly HoldRow[];
  /** The newest first. */
  readonly entries: readonly EntryRow[];
  /** Hand it back as `before` for the entries before these; undefined on the last page. */
  readonly next: bigint | undefined;
}

interface EntryPage {
  readonly before: bigint | undefined;
  readonly most: number;
}

type MovementRefusal = Refusal<'NOT_FOUND' | 'CONFLICT'>;

/** Any real wallet of the service. */
export interface OperatorWallets {
  /** The wallet with its holds and a page of its entries; undefined where there is none. */
  readonly find: (name: WalletName, page: EntryPage) => Promise<WalletDetails | undefined>;
  /** Opens a connected wallet for a user who agreed elsewhere, with a first credit where one is given. */
  readonly open: (
    act: Act,
    wallet: WalletName & { readonly cap: Micros | undefined; readonly credit: Amount | undefined },
  ) => Promise<Wallet | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
  readonly credit: (act: Act, movement: WalletName & Amount) => Promise<Wallet | MovementRefusal>;
  /** Money that was returned outside; or, of a payment, money that the processor is asked to pay back, booked once it has. */
  readonly refund: (
    act: Act,
    movement: WalletName & Amount & { readonly paymentId: PaymentId | undefined },
  ) => Promise<Wallet | PaymentRefusal>;
  readonly clawBack: (act: Act, movement: WalletName & Amount) => Promise<Wallet | MovementRefusal>;
  /** Lifts a suspension; refused while a shortfall is owed that the balance cannot cover and nobody writes off (WA-06). */
  readonly reinstate: (
    act: Act,
    wallet: WalletName & { readonly writesOff: boolean },
  ) => Promise<Wallet | MovementRefusal>;
}

const HOLDS_MAX = 1_000;

interface OperatorWalletsOptions {
  readonly pool: Pool;
  readonly currency: string;
  /** Undefined: there is no payment processor. */
  readonly refunds: Refunds | undefined;
}

export function createOperatorWallets({ pool, currency, refunds }: OperatorWalletsOptions): OperatorWallets {
  /** Moves money and gives the wallet. A repeat under the same key changes nothing and is answered alike. */
  async function move(
    act: Act & { readonly action: string },
    movement: WalletName,
    run: (tx: Queryable) => Promise<CreditOutcome | TakeBackOutcome>,
  ): Promise<Wallet | MovementRefusal> {
    const done = await audited<CreditOutcome | MovementRefusal>(
      pool,
      { ...act, subject: subjectOf(movement) },
      async (tx) => {
        const outcome = await run(tx);
        return refusalOf(outcome) ?? (outcome === 'repeated' ? new Repeated(outcome) : outcome);
      },
    );
    return done instanceof Refusal ? done : read(pool, movement); // Read later: calls wait for the wallet meanwhile.
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
    open: (act, { appId, userId, cap, credit }) =>
      audited(pool, { ...act, action: 'wallet.open', subject: subjectOf({ appId, userId }) }, async (tx) => {
        if ((await selectAppDetails(tx, appId)) === undefined) return refuse('NOT_FOUND', 'There is no such app.');
        const isNew = await createWallets(tx).open({ appId, userId, currency, cap });
        if (!isNew) return refuse('CONFLICT', 'This user has a wallet for this app already.');
        if (credit !== undefined) {
          // No key has a space, so that of an opening is none that a later credit can have.
          const first = { ...credit, key: `open ${credit.key}` };
          const outcome = await createFunding(tx).credit({ appId, userId, kind: 'contract_credit', ...first });
          const refusal = refusalOf(outcome);
          if (refusal !== undefined) return refusal;
        }
        return read(tx, { appId, userId });
      }),
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

async function reinstate(
  pool: Pool,
  act: Act,
  wallet: WalletName & { readonly writesOff: boolean },
): Promise<Wallet | MovementRefusal> {
  const named = { ...act, action: 'wallet.reinstate', subject: subjectOf(wallet) };
  const done = await audited<ReinstateOutcome | MovementRefusal>(pool, named, async (tx) => {
    const before = await createWallets(tx).find(wallet.appId, wallet.userId);
    if (before !== undefined && !before.isSuspended && before.shortfall === 0n) return new Repeated('reinstated');
    const outcome = await createFunding(tx).reinstate(wallet);
    if (outcome === 'no_wallet') return noWallet();
    if (outcome === 'reinstated') return outcome;
    return refuse('CONFLICT', 'A shortfall is owed that the balance does not cover: write it off, or wait.');
  });
  return done instanceof Refusal ? done : read(pool, wallet);
}

async function read(db: Queryable, { appId, userId }: WalletName): Promise<Wallet | Refusal<'NOT_FOUND'>> {
  return (await createWallets(db).find(appId, userId)) ?? noWallet();
}

function subjectOf({ appId, userId }: WalletName): string {
  return `${appId} ${userId}`;
}

function refusalOf(outcome: CreditOutcome | TakeBackOutcome): MovementRefusal | undefined {
  switch (outcome) {
    case 'no_wallet':
      return noWallet();
    case 'conflict':
      return refuse('CONFLICT', 'This idempotency key stands for another amount.', { param: 'idempotencyKey' });
    case 'too_much':
      return refuse('CONFLICT', 'The balance would pass the largest amount there is.', { param: 'amountMicros' });
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
