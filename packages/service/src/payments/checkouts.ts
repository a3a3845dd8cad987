import type { Pool } from '#db/pool/pool.ts';
import { type AppId, type CheckoutId, type EndUserId, type IdentityId, newCheckoutId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { isPayable, type PayableAmounts } from '#payments/processor/amounts.ts';
import type { Processor, ProcessorName } from '#payments/processor/processor.ts';
import { insertCheckout, isLinkSpent, selectCheckout, setProcessorCheckout } from '#payments/records/queries.ts';

/** A checkout for one wallet, as its page shows it. */
export interface Checkout {
  readonly checkoutId: CheckoutId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly amount: Micros;
  readonly currency: string;
  /**
   * With `open`, the processor has confirmed nothing yet. With `paid`, the money is in the wallet. With `kept`, an
   * operator must look.
   */
  readonly state: 'open' | 'paid' | 'kept';
}

interface NewCheckout {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId | undefined;
  /** The amount, which must be one that `amountsIn` allows. */
  readonly amount: Micros;
  readonly appName: string;
  /** The payer's address, if the payer is signed in. Nobody else's address may reach the processor. */
  readonly email: string | undefined;
  /** The digest of the top-up link that led here. A payment spends the link (BI-04). */
  readonly linkDigest: Buffer | undefined;
}

/** The processor did not open the checkout. Nothing was paid, and the payer may try again. The log says why. */
export class ProcessorAway extends Error {}

/** Payments into wallets. */
export interface Checkouts {
  readonly processor: ProcessorName;
  /** The origins to which a form that begins a checkout may redirect; the page's content security policy lists them. */
  readonly formTargets: readonly string[];
  readonly amountsIn: (currency: string) => PayableAmounts;
  /** Opens a checkout at the processor and returns its address there. The wallet must exist. Throws `ProcessorAway`. */
  readonly begin: (checkout: NewCheckout) => Promise<{ readonly checkoutId: CheckoutId; readonly url: string }>;
  readonly find: (checkoutId: CheckoutId) => Promise<Checkout | undefined>;
  /** Whether somebody has paid through this link. */
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
      if (wallet === undefined) throw new Error('A checkout needs an existing wallet.');
      const { currency } = wallet;
      if (!isPayable(amount, processor.amountsIn(currency))) {
        throw new RangeError('The processor does not accept this amount.');
      }
      const checkoutId = newCheckoutId();
      // Stored before the processor is asked: its webhook may arrive before its answer, and must find the checkout.
      await insertCheckout(pool, { ...payer, checkoutId, amount, currency, processor: processor.name });
      const returnUrl = `${publicUrl}/checkout/${checkoutId}`;
      const cancelUrl = `${returnUrl}?paid=no`;
      // The order names no end user: the checkout's id is enough to find them here.
      const order = { checkoutId, amount, currency, appName, returnUrl, cancelUrl, email };
      const { processorCheckout, url } = await processor.openCheckout(order).catch((fault: unknown) => {
        log.error({ checkoutId, fault: describeFault(fault) }, 'a checkout could not be opened');
        throw new ProcessorAway('The processor did not open the checkout.', { cause: fault });
      });
      // If this process dies here, the webhook still credits the payment; only the sweep cannot look this checkout up.
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
