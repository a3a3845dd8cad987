import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId, IdentityId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** Something about a payment that its payer and the owner of the wallet get mails about. */
export interface PaymentNews {
  /**
   * With `paid`, the money is in the wallet. With `refunded`, it goes back to the payer. With `refund_failed`, it does
   * not, after all.
   */
  readonly kind: 'paid' | 'refunded' | 'refund_failed';
  readonly appId: AppId;
  readonly userId: EndUserId;
  /** Who paid, if they were signed in. They need not own the wallet, so their mail says nothing about it. */
  readonly payer: IdentityId | undefined;
  readonly amount: Micros;
  readonly currency: string;
  readonly reference: PaymentId | RefundId;
}

/** Stores the mails in the transaction that books the payment, so that each person gets one for each step that was booked. */
export type TellOfPayment = (tx: Queryable, news: PaymentNews) => Promise<void>;
