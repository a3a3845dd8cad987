import type { IncomingHttpHeaders } from 'node:http';
import type { CheckoutId, RefundId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { PayableAmounts } from '#payments/processor/amounts.ts';
import type { Movement } from '#payments/processor/movement.ts';

export type ProcessorName = 'stripe' | 'test';

/**
 * A company that moves real money for us. It opens checkouts, and its signed webhooks say which payments have changed
 * (ON-02, ON-03). `stripe/` and `test-processor/` implement this port.
 */
export interface Processor {
  readonly name: ProcessorName;
  /** The origins to which a form may redirect on its way to the address that `openCheckout` returns. */
  readonly formTargets: readonly string[];
  readonly amountsIn: (currency: string) => PayableAmounts;
  /** Opens a checkout. Two requests for the same checkout open one. Throws if the processor cannot be reached. */
  readonly openCheckout: (
    order: CheckoutOrder,
  ) => Promise<{ readonly processorCheckout: string; readonly url: string }>;
  /**
   * Checks a webhook's signature and says which payment it is about. Nothing else in it is believed: webhooks arrive late,
   * twice and out of order, and only a look-up says what is true now. Undefined if it is not about a payment. Refuses a
   * signature that is not the processor's, or that is too old.
   */
  readonly readWebhook: (
    body: Buffer,
    headers: IncomingHttpHeaders,
  ) => Promise<ProcessorEvent | undefined | Refusal<'BAD_REQUEST'>>;
  /**
   * Reads a payment as the processor has it now. Undefined if the processor does not know it, or if it did not begin here.
   * Throws if the processor cannot be reached.
   */
  readonly lookUp: (processorPayment: string) => Promise<PaymentReport | undefined>;
  /** Reads the payment of a checkout, for payments whose webhook never arrived. Undefined if there is none. */
  readonly lookUpCheckout: (processorCheckout: string) => Promise<PaymentReport | undefined>;
  /**
   * Asks the processor to pay money back. Two requests for the same refund are one refund. `declined` is the processor's
   * final answer. Throws if the processor cannot be reached, because then the refund may or may not have been made.
   */
  readonly refund: (order: RefundOrder) => Promise<'asked' | 'declined'>;
  /** Every movement of the processor's balance in a time, for processors that have such a list. Throws if it cannot be read. */
  readonly listMovements?: (time: { readonly from: Date; readonly to: Date }) => AsyncIterable<Movement>;
}

export interface CheckoutOrder {
  readonly checkoutId: CheckoutId;
  readonly amount: Micros;
  readonly currency: string;
  /** The name of the app, which is shown to the payer, so that they recognise the payment. */
  readonly appName: string;
  /** Where the payer's browser goes after paying. An arrival there proves nothing (ON-02). */
  readonly returnUrl: string;
  readonly cancelUrl: string;
  /** The payer's address, if they have proved that it is theirs. */
  readonly email: string | undefined;
}

export interface RefundOrder {
  readonly refundId: RefundId;
  readonly processorPayment: string;
  readonly amount: Micros;
  readonly currency: string;
}

/** What we read from a processor's webhook: its id, its type, and the payment that it is about. */
export interface ProcessorEvent {
  readonly eventId: string;
  readonly type: string;
  readonly processorPayment: string;
}

/**
 * Everything that a processor knows about one payment. Look-ups may overtake each other, so a report must never take
 * anything back: a refund goes from under way to paid and from either to declined, and a dispute's movements stay.
 */
export interface PaymentReport {
  readonly processorPayment: string;
  /** Our id, which we gave to the processor when the checkout was opened. */
  readonly checkoutId: CheckoutId;
  /** What was received. It is undefined until something has been paid. */
  readonly received: { readonly amount: Micros; readonly currency: string } | undefined;
  readonly refunds: readonly RefundReport[];
  /** The money that a bank took because of a dispute, or gave back. */
  readonly disputeMovements: readonly DisputeMovement[];
  /** Facts that do not fit this report. None of them is booked, and an operator must look at each. */
  readonly anomalies?: readonly string[];
}

export interface RefundReport {
  readonly processorRefund: string;
  /** The id of the refund. It is undefined if the refund was made at the processor, not by us. */
  readonly refundId: RefundId | undefined;
  readonly amount: Micros;
  readonly state: 'under_way' | 'paid' | 'declined';
}

export interface DisputeMovement {
  readonly processorMovement: string;
  readonly amount: Micros;
  readonly isReinstated: boolean;
}
