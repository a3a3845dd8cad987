import { selectAppDetails } from '#developers/apps/operator-queries.ts';
import type { Facts } from '#audit/entry.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import { unreachable } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import type { CreditOutcome, TakeBackOutcome } from '#ledger/funding/queries.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import { type Act, Repeated } from '#operator/acts/act.ts';
import { movingMoney, type NoteMoney } from '#operator/acts/moving-money.ts';
import { type CaseGround, type CaseSolution, runSolution } from '#operator/money/case-solution.ts';
import { type PaymentRefusal, prepareRefund } from '#operator/money/refunds.ts';
import type { TellOfPending } from '#operator/acts/second-persons.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';
import { closeSuspensions } from '#payments/cases/queries.ts';
import type { Refunds } from '#payments/refunds/refunds.ts';

export interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

interface Amount {
  readonly amount: Micros;
  /** The idempotency key, which counts once for each wallet and kind of act. */
  readonly key: string;
}

interface NewWallet extends WalletName {
  readonly cap: Micros | undefined;
  /** A first credit. */
  readonly credit: Amount | undefined;
}

/**
 * An act on a wallet that moves money, as data: so it can wait for a second person. `open` agrees for a user who agreed elsewhere,
 * with a first credit if one is given: both or neither. `credit` puts money in that was paid outside the processor. `refund` without a
 * payment books money that was returned outside of it; with one, it asks the processor to pay that payment back, and is booked when the
 * processor has paid. `clawBack` books money that a bank took back; what the balance does not cover suspends the wallet (WA-05).
 * `reinstate` lifts a suspension, and is refused while there is a shortfall that the balance cannot cover and nobody writes off (WA-06).
 */
export type MoneyAct =
  | ({ readonly kind: 'open' } & NewWallet)
  | ({ readonly kind: 'credit' | 'clawBack' } & WalletName & Amount)
  | ({ readonly kind: 'refund'; readonly paymentId: PaymentId | undefined } & WalletName & Amount)
  | ({ readonly kind: 'reinstate'; readonly writesOff: boolean } & WalletName)
  | ({ readonly kind: 'solve' } & WalletName & CaseSolution);

export type MoneyRefusal = PaymentRefusal | Refusal<'FORBIDDEN'>;

export interface MoneyGround {
  readonly pool: Pool;
  readonly currency: string;
  /** The refunds. It is undefined if no payment processor is configured. */
  readonly refunds: Refunds | undefined;
  /** What is needed for cases of payments. */
  readonly cases?: CaseGround;
  /** Tells of an act that waits. If it is undefined, nobody is mailed about such an act. */
  readonly tellOfPending?: TellOfPending | undefined;
}

/** Refunds that the processor is to be asked for after the commit. Most acts have none. */
type ToAsk = readonly RefundId[];
/** An act that was not done: it is refused, or waits for a second person. */
type Kept = PendingAct | MoneyRefusal;
type Ran = ToAsk | Repeated<ToAsk> | MoneyRefusal;

const ACTIONS = {
  open: 'wallet.open',
  credit: 'wallet.credit',
  refund: 'wallet.refund',
  clawBack: 'wallet.clawback',
  reinstate: 'wallet.reinstate',
  solve: 'payment.solve',
} as const satisfies Record<MoneyAct['kind'], string>;

/** Does an act on a wallet within the limits of the operator, or keeps it for a second person. Returns the wallet after it. */
export async function doMoneyAct(ground: MoneyGround, act: Act, money: MoneyAct): Promise<Wallet | Kept> {
  const done = await orderMoneyAct(ground, act, money);
  if (!Array.isArray(done)) return done as Kept;
  return (await finishMoneyAct(ground, money, done)) ?? REFUSALS.no_wallet;
}

/** The same without what is left after the commit. Returns the refunds to ask for. */
export function orderMoneyAct(ground: MoneyGround, act: Act, money: MoneyAct): Promise<ToAsk | Kept> {
  const named = { ...act, action: ACTIONS[money.kind], subject: subjectOf(money) };
  const again = { act: JSON.stringify(money, asText), key: keyOf(money) };
  return movingMoney<ToAsk | MoneyRefusal>(
    ground.pool,
    { ...named, again, tellOfPending: ground.tellOfPending },
    (tx, note) => runMoneyAct(ground, tx, money, note),
  );
}

/** The part of an act that is done in its transaction. */
export function runMoneyAct(ground: MoneyGround, tx: Queryable, money: MoneyAct, note: NoteMoney): Promise<Ran> {
  switch (money.kind) {
    case 'open':
      return open(tx, ground.currency, money, note);
    case 'refund':
      return money.paymentId === undefined
        ? move(tx, money, note)
        : prepareRefund(tx, ground.refunds, { ...money, paymentId: money.paymentId }, note);
    case 'credit':
    case 'clawBack':
      return move(tx, money, note);
    case 'reinstate':
      return reinstate(tx, money, note);
    case 'solve':
      return runSolution(tx, ground.cases, money, note);
    default:
      return unreachable(money);
  }
}

/**
 * What is left to do after the commit, when no lock is held: the processor is asked, and the wallet is read. A crash before it
 * leaves a refund that the sweep finds and requests again. Undefined if the user has no wallet, as with a payment that came without one.
 */
export async function finishMoneyAct(
  { pool, refunds }: MoneyGround,
  money: MoneyAct,
  toAsk: ToAsk,
): Promise<Wallet | undefined | MoneyRefusal> {
  if (toAsk.length > 0 && (await refunds?.ask(toAsk)) === 'declined') {
    return refuse('CONFLICT', 'The payment processor has declined the refund. Nothing was paid back.');
  }
  return createWallets(pool).find(money.appId, money.userId);
}

/** An act as `JSON.stringify` has kept it. */
export function moneyActOf(kept: unknown): MoneyAct {
  const { amount, cap, credit, ...rest } = kept as Record<string, unknown> & { readonly credit?: { amount: string } };
  return {
    ...rest,
    ...(amount === undefined ? {} : { amount: amountOf(amount) }),
    ...(cap === undefined ? {} : { cap: amountOf(cap) }),
    ...(credit === undefined ? {} : { credit: { ...credit, amount: amountOf(credit.amount) } }),
  } as unknown as MoneyAct;
}

function amountOf(text: unknown): Micros {
  return micros(BigInt(String(text)));
}

/** Writes a `bigint` as text, because JSON has none. */
function asText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function keyOf(money: MoneyAct): string {
  if (money.kind === 'reinstate') return '';
  if (money.kind === 'solve') return `${money.caseId} ${money.act}`;
  return money.kind === 'open' ? (money.credit?.key ?? '') : money.key;
}

function subjectOf(money: MoneyAct): string {
  const wallet = `${money.appId} ${money.userId}`;
  if (money.kind === 'solve') return `${wallet} ${money.paymentId}`;
  return money.kind === 'refund' && money.paymentId !== undefined ? `${wallet} ${money.paymentId}` : wallet;
}

/** Opens a wallet, with its first credit if there is one. */
async function open(
  tx: Queryable,
  currency: string,
  { appId, userId, cap, credit }: NewWallet,
  note: NoteMoney,
): Promise<Ran> {
  if ((await selectAppDetails(tx, appId)) === undefined) return refuse('NOT_FOUND', 'There is no such app.');
  // An opening never changes an existing wallet, not even an empty one.
  const isNew = await createWallets(tx).open({ appId, userId, currency, cap });
  if (!isNew) return refuse('CONFLICT', 'This user already has a wallet for this app.');
  if (credit !== undefined) {
    // Callers' keys cannot contain a space, so no later credit can have the key of the opening.
    const first = { ...credit, key: `open ${credit.key}` };
    const outcome = await createFunding(tx).credit({ appId, userId, kind: 'contract_credit', ...first });
    const refusal = REFUSALS[outcome];
    if (refusal !== undefined) return refusal;
  }
  note({ amount: credit?.amount, after: stateOf(await readWallet(tx, { appId, userId })) });
  return [];
}

/** Moves money. A repeat with the same key changes nothing and gets the same answer. */
async function move(
  tx: Queryable,
  { kind, ...movement }: WalletName & Amount & { readonly kind: 'credit' | 'refund' | 'clawBack' },
  note: NoteMoney,
): Promise<Ran> {
  // Without a lock, so that calls of the wallet wait only for the movement itself: calls that end at this moment may lie
  // between the two states. The ledger has their order.
  const before = await readWallet(tx, movement);
  const funding = createFunding(tx);
  const outcome =
    kind === 'credit'
      ? await funding.credit({ ...movement, kind: 'contract_credit' })
      : await funding.takeBack({ ...movement, kind: kind === 'refund' ? 'refund' : 'claw_back' });
  note({ amount: movement.amount, before: stateOf(before), after: stateOf(await readWallet(tx, movement)) });
  return REFUSALS[outcome] ?? (outcome === 'repeated' ? new Repeated([]) : []);
}

/** Lifts a suspension. A wallet that is neither suspended nor short is left as it is, and no act is recorded. */
async function reinstate(
  tx: Queryable,
  wallet: WalletName & { readonly writesOff: boolean },
  note: NoteMoney,
): Promise<Ran> {
  // A claw-back between this look and the write-off would be given up too, and nobody would have judged it.
  const before = await createWallets(tx).lock(wallet.appId, wallet.userId);
  if (before !== undefined && !before.isSuspended && before.shortfall === 0n) return new Repeated([]);
  const outcome = await createFunding(tx).reinstate(wallet);
  if (outcome === 'no_wallet') return REFUSALS.no_wallet;
  if (outcome === 'reinstated') {
    await closeSuspensions(tx, wallet);
    const after = await readWallet(tx, wallet);
    const writtenOff = wallet.writesOff ? before?.shortfall : undefined;
    note({ amount: writtenOff, before: before && stateOf(before), after: stateOf(after) });
    return [];
  }
  return refuse('CONFLICT', 'The wallet has a shortfall that its balance does not cover. Write it off, or wait.');
}

async function readWallet(db: Queryable, { appId, userId }: WalletName): Promise<Wallet | Refusal<'NOT_FOUND'>> {
  return (await createWallets(db).find(appId, userId)) ?? REFUSALS.no_wallet;
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

const REFUSALS = {
  no_wallet: refuse('NOT_FOUND', 'This user has no wallet for this app.'),
  conflict: refuse('CONFLICT', 'This idempotency key was used for another amount.', { param: 'idempotencyKey' }),
  too_much: refuse('CONFLICT', 'The balance would exceed the largest possible amount.', { param: 'amountMicros' }),
  booked: undefined,
  repeated: undefined,
} as const satisfies Record<CreditOutcome | TakeBackOutcome, Refusal | undefined>;
