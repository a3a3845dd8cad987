import type { IncomingHttpHeaders } from 'node:http';
import type { CheckoutId, RefundId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import type { Refusal } from '#kernel/refusal.ts';
import type { PayableAmounts } from '#payments/amounts.ts';

export type ProcessorName = 'stripe' | 'test';

/** Who moves real money for us: opens a place to pay, and tells by signed notices what became of it (ON-02, ON-03). */
export interface Processor {
  readonly name: ProcessorName;
  /** Origins that a form which leads to `openCheckout`'s address ends at. */
  readonly formTargets: readonly string[];
  readonly amountsIn: (currency: string) => PayableAmounts;
  /** The same checkout asked for twice is opened once. Throws where the processor cannot be reached. */
  readonly openCheckout: (
    order: CheckoutOrder,
  ) => Promise<{ readonly processorCheckout: string; readonly url: string }>;
  /**
   * What a notice is about. It is only a reason to look: nothing of what it says is believed but which payment to look at. Undefined
   * for one that is about no payment of ours. Refused where its signature is not the processor's, or too old.
   */
  readonly readNotice: (
    body: Buffer,
    headers: IncomingHttpHeaders,
  ) => Promise<Notice | undefined | Refusal<'BAD_REQUEST'>>;
  /** A payment as the processor has it now. Undefined: it has none, or none of ours. Throws where it cannot be reached. */
  readonly lookUp: (processorPayment: string) => Promise<PaymentReport | undefined>;
  /** The payment of a checkout, where there is one: for those whose notice never came. */
  readonly lookUpCheckout: (processorCheckout: string) => Promise<PaymentReport | undefined>;
  /**
   * Asks for money to be paid back. The same refund asked for twice is one. `declined`: never, by the processor's word;
   * whoever only cannot be reached throws.
   */
  readonly refund: (order: RefundOrder) => Promise<'asked' | 'declined'>;
}

export interface CheckoutOrder {
  readonly checkoutId: CheckoutId;
  readonly amount: Micros;
  readonly currency: string;
  /** For the payer to recognise what it is. */
  readonly appName: string;
  /** Where the payer's browser goes afterwards. Proves nothing. */
  readonly returnUrl: string;
  readonly cancelUrl: string;
  /** Of a payer who has shown that it is his. */
  readonly email: string | undefined;
}

export interface RefundOrder {
  readonly refundId: RefundId;
  readonly processorPayment: string;
  readonly amount: Micros;
  readonly currency: string;
}

export interface Notice {
  readonly noticeId: string;
  readonly type: string;
  readonly processorPayment: string;
}

/**
 * Everything that a processor says of one payment. Looks may overtake each other, so what is said once must never be
 * unsaid: a refund goes from under way to paid and from either to declined, and a dispute's movements stay.
 */
export interface PaymentReport {
  readonly processorPayment: string;
  /** Ours, as it was told when the checkout was opened. */
  readonly checkoutId: CheckoutId;
  /** Undefined: nothing has been paid yet. */
  readonly received: { readonly amount: Micros; readonly currency: string } | undefined;
  readonly refunds: readonly RefundReport[];
  /** Money that a bank took because of a dispute, or gave back. */
  readonly disputeMovements: readonly DisputeMovement[];
  /** What cannot be told in this form: nothing of it is booked, and an operator must look. */
  readonly anomalies?: readonly string[];
}

export interface RefundReport {
  readonly processorRefund: string;
  /** Undefined: nobody here asked for it. */
  readonly refundId: RefundId | undefined;
  readonly amount: Micros;
  readonly state: 'under_way' | 'paid' | 'declined';
}

export interface DisputeMovement {
  readonly processorMovement: string;
  readonly amount: Micros;
  readonly isReinstated: boolean;
}
