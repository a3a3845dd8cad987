import type { AppId, CheckoutId, EndUserId, IdentityId, PaymentId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import type { PayableAmounts } from '#payments/amounts.ts';
import type { ProcessorName } from '#payments/processor.ts';

/** A place to pay into one wallet, as its page shows it. */
export interface Checkout {
  readonly checkoutId: CheckoutId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly amount: Micros;
  readonly currency: string;
  /** `open`: the processor has confirmed nothing yet; `paid`: the money is in the wallet; `kept`: an operator must look. */
  readonly state: 'open' | 'paid' | 'kept';
}

export interface NewCheckout {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId | undefined;
  readonly amount: Micros;
  readonly appName: string;
  readonly email: string | undefined;
  /** Of the link that it is begun by; a payment spends it (BI-04). */
  readonly linkDigest: Buffer | undefined;
}

/** Payments into wallets. */
export interface Checkouts {
  readonly processor: ProcessorName;
  /** Origins that a form which begins a checkout ends at. */
  readonly formTargets: readonly string[];
  readonly amountsIn: (currency: string) => PayableAmounts;
  /** Opens a checkout at the processor and gives its address there. The wallet must be there. */
  readonly begin: (checkout: NewCheckout) => Promise<{ readonly checkoutId: CheckoutId; readonly url: string }>;
  readonly find: (checkoutId: CheckoutId) => Promise<Checkout | undefined>;
  /** Whether a payment was made by this link. */
  readonly isSpent: (linkDigest: Buffer) => Promise<boolean>;
}

/** What of a payment can still go back to where it came from. */
export interface Payment {
  readonly paymentId: PaymentId;
  readonly amount: Micros;
  readonly currency: string;
  readonly paidAtMs: number;
  readonly state: 'credited' | 'kept';
  /** Paid back, or on its way. */
  readonly refunded: Micros;
  /** Taken by a bank and not given back. */
  readonly disputed: Micros;
}

export type RefundOutcome = 'asked' | 'declined' | 'too_much' | 'no_payment' | 'suspended' | 'repeated' | 'conflict';

/** Refunds to the means of payment. */
export interface Refunds {
  /** The newest first, at most 100. */
  readonly payments: (appId: AppId, userId: EndUserId) => Promise<readonly Payment[]>;
  /** The most that a wallet can pay back: what no call holds, as far as its payments go. */
  readonly refundable: (appId: AppId, userId: EndUserId) => Promise<Micros>;
  /**
   * Pays back from the newest payments on, as far as they go: sets aside first, then asks the processor; what it declines
   * comes back. Its notice books it, once. `key` counts once for each wallet.
   */
  readonly refundUnused: (refund: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly amount: Micros;
    readonly key: string;
  }) => Promise<RefundOutcome>;
}
