import type { Pool, Queryable } from '#db/pool.ts';
import type { AppId, EndUserId, PaymentId, RefundId } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Micros, micros, microsFromRow, microsSumFromRow, ZERO_MICROS } from '#kernel/micros.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { wholeUnits } from '#payments/amounts.ts';
import { type PaymentSums, selectPayments, selectRefundsUnderWay } from '#payments/operator-queries.ts';
import type { Processor } from '#payments/processor.ts';
import type { PaymentAnomaly } from '#payments/queries.ts';
import { createAsker } from '#payments/refund-asker.ts';
import { PAYMENTS_MAX, prepareOne, prepareUnused, type RefundRequest, restsOf } from '#payments/refund-plan.ts';

/** A payment, and what of it has gone back to where it came from. */
export interface Payment {
  readonly paymentId: PaymentId;
  readonly amount: Micros;
  readonly currency: string;
  readonly paidAtMs: number;
  /** `kept`: it is in no wallet, and an operator must look. */
  readonly state: 'credited' | 'kept';
  /** What was other than it should be. */
  readonly anomaly: PaymentAnomaly | undefined;
  /** Paid back, or on its way. */
  readonly refunded: Micros;
  /** Taken by a bank and not given back. */
  readonly disputed: Micros;
}

/** `not_whole`: the amount is no multiple of the smallest coin. `too_much`: more than is there, or than was paid. */
export type RefundOutcome =
  | 'asked'
  | 'declined'
  | 'not_whole'
  | 'too_much'
  | 'no_payment'
  | 'suspended'
  | 'repeated'
  | 'conflict';

/** Refunds to the means of payment. */
export interface Refunds {
  /** The newest first, at most 100. */
  readonly payments: (appId: AppId, userId: EndUserId) => Promise<readonly Payment[]>;
  /** Refunds that are on their way, the newest first, at most 100. */
  readonly underWay: (
    appId: AppId,
    userId: EndUserId,
  ) => Promise<readonly { readonly amount: Micros; readonly askedAtMs: number }[]>;
  /** The most that a wallet can pay back: what no call holds, as far as its payments go, in whole coins. */
  readonly refundable: (appId: AppId, userId: EndUserId) => Promise<Micros>;
  /**
   * Pays back from the newest payments on, as far as they go: sets aside first, then asks the processor; what it declines
   * comes back. Its notice books it, once.
   */
  readonly refundUnused: (refund: RefundRequest) => Promise<RefundOutcome>;
  /**
   * The first step of an operator's refund of one payment, in his transaction: sets aside where there is enough; one that is
   * kept goes back without the wallet. Where there
   * is not, it is taken when the processor has paid it, and suspends the wallet (WA-05). Gives what `ask` is then called with.
   */
  readonly prepare: (
    tx: Queryable,
    refund: RefundRequest & { readonly paymentId: PaymentId },
  ) => Promise<readonly RefundId[] | Exclude<RefundOutcome, 'asked' | 'suspended'>>;
  /** Asks the processor for refunds that were prepared. Where it cannot be reached they are asked for again later. */
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
      const rests = await restsOf(pool, processor, { appId, userId });
      const rest = rests.reduce((sum, one) => (one.state === 'credited' ? sum + one.rest : sum), 0n);
      const most = wholeUnits(wallet.available, processor.amountsIn(wallet.currency));
      return rest < most ? micros(rest) : most;
    },
    refundUnused: async (refund) => {
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
