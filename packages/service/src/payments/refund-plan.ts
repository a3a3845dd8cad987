import { inTransaction, type Pool, type Queryable } from '#db/pool.ts';
import { waitForLocks } from '#db/queries.ts';
import { type AppId, type EndUserId, newRefundId, type PaymentId, type RefundId } from '#kernel/ids.ts';
import { type Micros, micros } from '#kernel/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { wholeUnits } from '#payments/amounts.ts';
import { type PaymentSums, selectPayments } from '#payments/operator-queries.ts';
import type { Processor } from '#payments/processor.ts';
import { insertRefund, lockPaidCheckouts, selectRequest } from '#payments/queries.ts';

/** Of a wallet, the newest. */
export const PAYMENTS_MAX = 100;

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

export interface RefundRequest extends WalletName {
  readonly amount: Micros;
  /** Counts once for each wallet. */
  readonly key: string;
}

interface Rest extends PaymentSums {
  /** What can still go back, in whole coins. */
  readonly rest: Micros;
}

/** The newest first; those of which nothing is left are not among them. */
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

/** Undefined: the key is new. */
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

/** Thrown so that what was set aside before it is undone. */
class NotSetAside extends Error {
  readonly outcome: string;

  constructor(outcome: string) {
    super(`Money for a refund was not set aside: ${outcome}.`);
    this.outcome = outcome;
  }
}

type UnusedRefusal = 'not_whole' | 'too_much' | 'no_payment' | 'suspended' | 'repeated' | 'declined' | 'conflict';

/** Sets aside for refunds of the newest payments, all of the amount or nothing. */
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

async function planUnused(
  tx: Queryable,
  processor: Processor,
  request: RefundRequest,
): Promise<readonly RefundId[] | UnusedRefusal> {
  await lockPaidCheckouts(tx, request);
  const before = await askedBefore(tx, request, () => true);
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

/** Sets aside for a refund of one payment, where there is enough. One that is kept can go back too. */
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

/** Writes a refund down and sets aside for it, where the wallet allows. */
async function addRefund(
  tx: Queryable,
  processor: Processor,
  { appId, userId, payment, amount, key }: RefundRequest & { readonly payment: Rest },
) {
  const refundId = newRefundId();
  // What is in no wallet goes back without one.
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
  return { refundId, outcome };
}
