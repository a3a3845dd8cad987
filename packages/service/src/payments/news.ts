import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId, IdentityId, PaymentId, RefundId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';

/** Something about a payment that its payer gets a mail about. */
export interface PaymentNews {
  /** `paid`: the money is in the wallet; `refunded`: it goes back to the payer; `refund_failed`: it does not, after all. */
  readonly kind: 'paid' | 'refunded' | 'refund_failed';
  readonly appId: AppId;
  readonly userId: EndUserId;
  /** Who paid. They need not own the wallet, so the mail says nothing about it. */
  readonly payer: IdentityId;
  readonly amount: Micros;
  readonly currency: string;
  readonly reference: PaymentId | RefundId;
}

/** Stores the mail in the transaction that books the payment, so that there is one mail for each step that was booked. */
export type TellPayer = (tx: Queryable, news: PaymentNews) => Promise<void>;
