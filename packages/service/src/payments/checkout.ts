import type { Pool } from '#db/pool.ts';
import { type AppId, type CheckoutId, type EndUserId, type IdentityId, newCheckoutId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { isPayable, type PayableAmounts } from '#payments/amounts.ts';
import type { Processor, ProcessorName } from '#payments/processor.ts';
import { insertCheckout, isLinkSpent, selectCheckout, setProcessorCheckout } from '#payments/queries.ts';

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

interface NewCheckout {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId | undefined;
  /** One that `amountsIn` allows. */
  readonly amount: Micros;
  readonly appName: string;
  /** Of a payer who is signed in. */
  readonly email: string | undefined;
  /** Of the link that it is begun by; a payment spends it (BI-04). */
  readonly linkDigest: Buffer | undefined;
}

/** The processor opened no checkout: nothing can be paid, and it may be tried again. The log says why. */
export class ProcessorAway extends Error {}

/** Payments into wallets. */
export interface Checkouts {
  readonly processor: ProcessorName;
  /** Origins that a form which begins a checkout ends at. */
  readonly formTargets: readonly string[];
  readonly amountsIn: (currency: string) => PayableAmounts;
  /** Opens a checkout at the processor and gives its address there. The wallet must be there. Throws `ProcessorAway`. */
  readonly begin: (checkout: NewCheckout) => Promise<{ readonly checkoutId: CheckoutId; readonly url: string }>;
  readonly find: (checkoutId: CheckoutId) => Promise<Checkout | undefined>;
  /** Whether a payment was made by this link. */
  readonly isSpent: (linkDigest: Buffer) => Promise<boolean>;
}

interface CheckoutsOptions {
  readonly pool: Pool;
  readonly processor: Processor;
  readonly publicUrl: string;
  readonly log: Log;
}

export function createCheckouts({ pool, processor, publicUrl, log }: CheckoutsOptions): Checkouts {
  return {
    processor: processor.name,
    formTargets: processor.formTargets,
    amountsIn: processor.amountsIn,
    begin: async ({ amount, appName, email, ...payer }) => {
      const wallet = await createWallets(pool).find(payer.appId, payer.userId);
      if (wallet === undefined) throw new Error('A checkout is for a wallet that is there.');
      const { currency } = wallet;
      if (!isPayable(amount, processor.amountsIn(currency))) {
        throw new RangeError('The amount is not one that the processor takes.');
      }
      const checkoutId = newCheckoutId();
      // Written first: a notice may come before the processor's answer does.
      await insertCheckout(pool, { ...payer, checkoutId, amount, currency, processor: processor.name });
      const returnUrl = `${publicUrl}/checkout/${checkoutId}`;
      const cancelUrl = `${returnUrl}?paid=no`;
      const order = { checkoutId, amount, currency, appName, returnUrl, cancelUrl, email };
      const { processorCheckout, url } = await processor.openCheckout(order).catch((fault: unknown) => {
        log.error({ checkoutId, fault: describeFault(fault) }, 'a checkout could not be opened');
        throw new ProcessorAway('The processor opened no checkout.', { cause: fault });
      });
      await setProcessorCheckout(pool, checkoutId, processorCheckout);
      return { checkoutId, url };
    },
    find: async (checkoutId) => {
      const row = await selectCheckout(pool, checkoutId);
      if (row === undefined) return undefined;
      return {
        checkoutId: row.checkout_id,
        appId: row.app_id,
        userId: row.user_id,
        amount: microsFromRow(row.amount_micros),
        currency: row.currency,
        state: row.state === null ? 'open' : row.state === 'credited' ? 'paid' : 'kept',
      };
    },
    isSpent: (linkDigest) => isLinkSpent(pool, linkDigest),
  };
}
