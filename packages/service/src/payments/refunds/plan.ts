import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { waitForLocks } from '#db/processes/queries.ts';
import { type AppId, type EndUserId, newRefundId, type PaymentId, type RefundId } from '#kernel/values/ids.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { wholeUnits } from '#payments/processor/amounts.ts';
import { closeSpentCase } from '#payments/cases/queries.ts';
import { type PaymentSums, selectPayments } from '#payments/refunds/queries.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { insertRefund, lockPaidCheckouts, selectRequest } from '#payments/records/queries.ts';

/** How many payments of a wallet are considered, the newest first. */
export const PAYMENTS_MAX = 100;

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

export interface RefundRequest extends WalletName {
  readonly amount: Micros;
  /** The idempotency key, which counts once for each wallet. */
  readonly key: string;
}

/** A payment of which something can still go back. */
interface Rest extends PaymentSums {
  /** What can still go back, in whole coins. */
  readonly rest: Micros;
}

/** The payments of a wallet of which something is left, the newest first. */
export async function restsOf(db: Queryable, processor: Processor, wallet: WalletName): Promise<readonly Rest[]> {
  const { appId, userId } = wallet;
  return withRests(await selectPayments(db, { appId, userId, processor: processor.name }, PAYMENTS_MAX), processor);
}

function withRests(payments: readonly PaymentSums[], processor: Processor): readonly Rest[] {
  return payments.flatMap((payment) => {
    const rest = payment.amount_micros - payment.refunded_micros - payment.disputed_micros;
    if (rest <= 0n) return [];
    return [{ ...payment, rest: wholeUnits(micros(rest), processor.amountsIn(payment.currency)) }];
  });
}

/**
 * The outcome of the request that used this key before. Undefined if the key is new. `conflict`: the key was used for
 * another amount or other payments.
 */
async function askedBefore(
  tx: Queryable,
  request: RefundRequest,
  isSame: (payments: readonly PaymentId[]) => boolean,
): Promise<'repeated' | 'declined' | 'conflict' | undefined> {
  const before = await selectRequest(tx, request);
  if (before === undefined) return undefined;
  if (before.amount !== request.amount || !isSame(before.payments)) return 'conflict';
  return before.isDeclined ? 'declined' : 'repeated';
}

/**
 * Is thrown so that the transaction rolls back, and with it the money set aside for earlier payments of the same
 * request.
 */
class NotSetAside extends Error {
  readonly outcome: string;

  constructor(outcome: string) {
    super(`Money for a refund was not set aside: ${outcome}.`);
    this.outcome = outcome;
  }
}

type UnusedRefusal = 'not_whole' | 'too_much' | 'no_payment' | 'suspended' | 'repeated' | 'declined' | 'conflict';

/** Sets money aside for refunds of the newest payments: the whole amount or nothing. Returns the refunds to ask for. */
export async function prepareUnused(
  pool: Pool,
  processor: Processor,
  request: RefundRequest,
): Promise<readonly RefundId[] | UnusedRefusal> {
  try {
    return await inTransaction(pool, async (tx) => {
      await waitForLocks(tx);
      return planUnused(tx, processor, request);
    });
  } catch (fault) {
    if (!(fault instanceof NotSetAside)) throw fault;
    return fault.outcome === 'suspended' ? 'suspended' : 'too_much';
  }
}

/** Spreads the amount over the payments, the newest first. */
async function planUnused(
  tx: Queryable,
  processor: Processor,
  request: RefundRequest,
): Promise<readonly RefundId[] | UnusedRefusal> {
  // Two refunds of one wallet take turns from here on: each sees what the other has set aside, and no key counts twice.
  await lockPaidCheckouts(tx, request);
  const before = await askedBefore(tx, request, () => true); // Which payments it was spread over does not matter.
  if (before !== undefined) return before;
  const rests = (await restsOf(tx, processor, request)).filter(({ state }) => state === 'credited');
  if (rests[0] === undefined) return 'no_payment';
  if (!isWhole(request.amount, processor, rests[0].currency)) return 'not_whole';
  if (rests.reduce((sum, { rest }) => sum + rest, 0n) < request.amount) return 'too_much';
  const refundIds: RefundId[] = [];
  let left: bigint = request.amount;
  for (const payment of rests) {
    const amount = micros(left < payment.rest ? left : payment.rest);
    if (amount === 0n) continue;
    left -= amount;
    const { refundId, outcome } = await addRefund(tx, processor, { ...request, payment, amount });
    if (outcome !== 'booked') throw new NotSetAside(outcome);
    refundIds.push(refundId);
  }
  return refundIds;
}

/** Sets money aside for a refund of one payment, if the wallet has enough. A kept payment can be refunded too. */
export async function prepareOne(
  tx: Queryable,
  processor: Processor,
  request: RefundRequest & { readonly paymentId: PaymentId },
): Promise<readonly RefundId[] | Exclude<UnusedRefusal, 'suspended'>> {
  await lockPaidCheckouts(tx, request);
  const before = await askedBefore(tx, request, (payments) => payments.every((one) => one === request.paymentId));
  if (before !== undefined) return before;
  const [found] = await selectPayments(tx, { ...request, processor: processor.name }, 1);
  if (found === undefined) return 'no_payment';
  const [payment] = withRests([found], processor);
  if (payment === undefined || payment.rest < request.amount) return 'too_much';
  if (!isWhole(request.amount, processor, payment.currency)) return 'not_whole';
  const { refundId } = await addRefund(tx, processor, { ...request, payment });
  return [refundId];
}

function isWhole(amount: Micros, processor: Processor, currency: string): boolean {
  return wholeUnits(amount, processor.amountsIn(currency)) === amount;
}

/** Stores a refund and sets its money aside if the wallet has enough. */
async function addRefund(
  tx: Queryable,
  processor: Processor,
  { appId, userId, payment, amount, key }: RefundRequest & { readonly payment: Rest },
) {
  const refundId = newRefundId();
  // A kept payment is in no wallet, so nothing can be set aside for it.
  const isInWallet = payment.state === 'credited';
  const outcome = isInWallet ? await createFunding(tx).setAside({ appId, userId, amount, key: refundId }) : 'not_there';
  await insertRefund(tx, {
    refund_id: refundId,
    payment_id: payment.payment_id,
    amount_micros: amount,
    state: 'asked',
    booked_as: outcome === 'booked' ? 'set_aside' : null,
    processor: processor.name,
    processor_refund: null,
    is_ours: true,
    app_id: appId,
    user_id: userId,
    request_key: key,
  });
  if (!isInWallet) await closeSpentCase(tx, payment.payment_id);
  return { refundId, outcome };
}
