// Payments at Stripe of users in the cells of `startTwoCells`.
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { type EndUserId, newIdentityId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createCheckouts } from '../../../packages/service/src/payments/checkouts.ts';
import { createStripe } from '../../../packages/service/src/payments/stripe/stripe.ts';
import { send } from '../../support/client.ts';
import type { StripeServer } from '../../support/stripe-server.ts';
import type { CellName, TwoCells } from './two-cells.ts';

/** The settings of a service that uses this Stripe. */
export function stripeSettings({ secretKey, webhookSecret, url }: StripeServer) {
  return {
    PURSER_STRIPE_SECRET_KEY: secretKey,
    PURSER_STRIPE_WEBHOOK_SECRET: webhookSecret,
    PURSER_STRIPE_API_BASE: url,
  };
}

export function cellPaymentsOf(cells: TwoCells, stripe: StripeServer) {
  const { secretKey, webhookSecret } = stripe;
  const { app } = cells;
  const processor = createStripe({ secretKey, webhookSecret, apiBase: new URL(stripe.url) }, systemClock);
  return {
    /** The user pays, in a checkout of this cell. Gives Stripe's id of the payment. */
    pays: async (cell: CellName, userId: EndUserId, amount: bigint): Promise<string> => {
      const pool = cells[cell].database.owner;
      const log = createLog('silent');
      const checkouts = createCheckouts({ pool, processor, publicUrl: 'https://purser.test', log });
      const order = { appId: app.appId, userId, identityId: newIdentityId(), amount: micros(amount) };
      const { url } = await checkouts.begin({
        ...order,
        appName: 'Test app',
        email: undefined,
        linkDigest: undefined,
      });
      return stripe.pay(url.split('/').at(-1) ?? '');
    },
    /** What a cell answers to a webhook of Stripe about this payment. */
    told: async (at: CellName, type: string, payment: string): Promise<number> => {
      const { body, signature } = stripe.event(type, payment);
      const headers = { 'stripe-signature': signature };
      return (await send('/webhooks/stripe', { url: cells[at].url, body, headers })).status;
    },
  };
}
