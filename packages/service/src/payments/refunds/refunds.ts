import type { Pool, Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Micros, micros, microsFromRow, microsSumFromRow, ZERO_MICROS } from '#kernel/values/micros.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { wholeUnits } from '#payments/processor/amounts.ts';
import { type PaymentSums, selectPayments, selectRefundsUnderWay } from '#payments/refunds/queries.ts';
import type { Processor } from '#payments/processor/processor.ts';
import type { PaymentAnomaly } from '#payments/records/queries.ts';
import { createAsker } from '#payments/refunds/asker.ts';
import { PAYMENTS_MAX, prepareOne, prepareUnused, type RefundRequest, restsOf } from '#payments/refunds/plan.ts';

/** A payment, with the amounts that went back to the payer. */
export interface Payment {
  readonly paymentId: PaymentId;
  readonly amount: Micros;
  readonly currency: string;
  readonly paidAtMs: number;
  /** With `kept`, the payment is in no wallet, and an operator must look at it. */
  readonly state: 'credited' | 'kept';
  /** How the payment differed from what was requested. */
  readonly anomaly: PaymentAnomaly | undefined;
  /** The amount that is paid back, or about to be. */
  readonly refunded: Micros;
  /** The amount that a bank has taken and not returned. */
  readonly disputed: Micros;
}

/**
 * With `not_whole`, the amount is not a multiple of the smallest coin. With `too_much`, it is more than the wallet has,
 * or than was paid. With `repeated`, the same request was made before, and nothing was done again.
 */
export type RefundOutcome =
  | 'asked'
  | 'declined'
  | 'not_whole'
  | 'too_much'
  | 'no_payment'
  | 'suspended'
  | 'repeated'
  | 'conflict';

/** Refunds through the processor that took the payment. */
export interface Refunds {
  /** The newest first, at most 100. */
  readonly payments: (appId: AppId, userId: EndUserId) => Promise<readonly Payment[]>;
  /** Reads our refunds that the processor has not confirmed yet, the newest first, at most 100. */
  readonly underWay: (
    appId: AppId,
    userId: EndUserId,
  ) => Promise<readonly { readonly amount: Micros; readonly askedAtMs: number }[]>;
  /**
   * The most that a wallet can pay back: its available balance or what is left of its payments, the smaller of the two, in whole
   * coins. Zero for a suspended wallet.
   */
  readonly refundable: (appId: AppId, userId: EndUserId) => Promise<Micros>;
  /**
   * Pays an amount back, from the newest payment to older ones. It sets the money aside in the wallet first and then asks
   * the processor, so the money cannot be spent meanwhile. Money of a declined refund returns to the wallet. The
   * refund is booked once, when a look-up confirms it.
   */
  readonly refundUnused: (refund: RefundRequest) => Promise<RefundOutcome>;
  /**
   * The first step of an operator's refund of one payment, in the operator's transaction. It sets the money aside if the
   * wallet has enough. If it has not, the money is taken when the processor has paid it, which suspends the wallet
   * (WA-05). A kept payment goes back without the wallet. Returns the ids to call `ask` with after the commit.
   */
  readonly prepare: (
    tx: Queryable,
    refund: RefundRequest & { readonly paymentId: PaymentId },
  ) => Promise<readonly RefundId[] | Exclude<RefundOutcome, 'asked' | 'suspended'>>;
  /**
   * Asks the processor for refunds that were prepared. If it cannot be reached, the sweep asks again later and this returns
   * `asked`: the refund may have been made, so nobody may be told that it was not.
   */
  readonly ask: (refundIds: readonly RefundId[]) => Promise<'asked' | 'declined'>;
}

interface RefundsOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly log: Log;
}

export function createRefunds({ pool, processor, log }: RefundsOptions): Refunds {
  const asker = createAsker({ pool, processor, log });

  return {
    payments: (appId, userId) => listPayments(pool, appId, userId),
    underWay: async (appId, userId) =>
      (await selectRefundsUnderWay(pool, { appId, userId }, PAYMENTS_MAX)).map((row) => ({
        amount: microsFromRow(row.amount_micros),
        askedAtMs: row.created_at.getTime(),
      })),
    refundable: async (appId, userId) => {
      const wallet = await createWallets(pool).find(appId, userId);
      if (wallet === undefined || wallet.isSuspended) return ZERO_MICROS;
      // Only payments of the processor in use count. Nobody here could ask another one to pay back.
      const rests = await restsOf(pool, processor, { appId, userId });
      const rest = rests.reduce((sum, one) => (one.state === 'credited' ? sum + one.rest : sum), 0n);
      const most = wholeUnits(wallet.available, processor.amountsIn(wallet.currency));
      return rest < most ? micros(rest) : most;
    },
    refundUnused: async (refund) => {
      // The prefix separates this key from an operator's, for the same wallet.
      const prepared = await prepareUnused(pool, processor, { ...refund, key: `unused ${refund.key}` });
      return typeof prepared === 'string' ? prepared : asker.ask(prepared);
    },
    prepare: (tx, refund) => prepareOne(tx, processor, { ...refund, key: `payment ${refund.key}` }),
    ask: asker.ask,
  };
}

/** Payments into a wallet by any processor, the newest first, at most 100. */
export async function listPayments(db: Queryable, appId: AppId, userId: EndUserId): Promise<readonly Payment[]> {
  return (await selectPayments(db, { appId, userId, processor: undefined }, PAYMENTS_MAX)).map(paymentOf);
}

function paymentOf(row: PaymentSums): Payment {
  return {
    paymentId: row.payment_id,
    amount: microsFromRow(row.amount_micros),
    currency: row.currency,
    paidAtMs: row.paid_at.getTime(),
    state: row.state,
    anomaly: row.anomaly ?? undefined,
    refunded: microsSumFromRow(row.refunded_micros),
    disputed: microsSumFromRow(row.disputed_micros),
  };
}
