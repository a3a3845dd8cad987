import { after } from 'node:test';
import { type EndUserId, newIdentityId } from '../../packages/service/src/kernel/values/ids.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createCheckouts } from '../../packages/service/src/payments/checkouts.ts';
import { createStripe } from '../../packages/service/src/payments/stripe/stripe.ts';
import { sweepPayments } from '../../packages/service/src/payments/booking/sweep.ts';
import { send } from './client.ts';
import type { TestApp } from './service.ts';
import { sql } from './sql.ts';
import { setStage } from './stage.ts';
import { type SignedEvent, startStripeServer } from './stripe-server.ts';

/** A service with payments through Stripe's own library, from a server on this machine. It ends with the file. */
export async function setStripeStage({
  model,
  environment,
}: {
  readonly model?: object;
  readonly environment?: Readonly<Record<string, string>>;
} = {}) {
  const stripe = await startStripeServer();
  after(() => stripe.close());
  const stage = await setStage({
    ...(model === undefined ? {} : { model: { ...model } }),
    environment: {
      PURSER_STRIPE_SECRET_KEY: stripe.secretKey,
      PURSER_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
      PURSER_STRIPE_API_BASE: stripe.url,
      PURSER_WEBHOOK_ALLOW_PRIVATE: '1',
      ...environment,
    },
  });
  const { service, app } = stage;
  for (const secret of [stripe.secretKey, stripe.webhookSecret, 'canary-of-stripe']) service.keepSecret(secret);
  const { owner } = service.database;
  const { secretKey, webhookSecret } = stripe;
  const processor = createStripe({ secretKey, webhookSecret, apiBase: new URL(stripe.url) }, systemClock);
  const log = createLog('silent');
  const checkouts = createCheckouts({ pool: owner, processor, publicUrl: 'https://purser.test', log });

  const deliver = ({ body, signature }: SignedEvent) =>
    send('/webhooks/stripe', { url: service.url, body, headers: { 'stripe-signature': signature } });
  return {
    ...stage,
    stripe,
    processor,
    checkouts,
    /** A checkout for a user with a wallet, and its session. */
    begin: async (user: string, amount: number, email?: string, { appId }: TestApp = app) => {
      const { checkoutId, url } = await checkouts.begin({
        appId,
        userId: user as EndUserId,
        identityId: newIdentityId(),
        amount: micros(BigInt(amount)),
        appName: 'Test app',
        email,
        linkDigest: undefined,
      });
      return { checkoutId, session: url.split('/').at(-1) ?? '' };
    },
    deliver,
    tell: (type: string, payment: string) => deliver(stripe.event(type, payment)),
    sweep: async () => {
      await sql(owner)`update payments.checkouts set next_look_at = clock_timestamp() where next_look_at is not null`;
      await sql(owner)`update payments.refunds set next_look_at = clock_timestamp()`;
      await sweepPayments({ pool: owner, processor, log });
    },
    moved: async (user: string) => {
      const rows = await sql<{ text: string }>(owner)`select e.kind || ' ' || e.amount_micros as text
        from ledger.entries e join ledger.wallets w using (wallet_id) where w.user_id = ${user} order by e.seq`;
      return rows.map(({ text }) => text);
    },
    rows: async (table: string) => {
      const { rows } = await owner.query<{ count: bigint }>(`select count(*) as count from ${table}`);
      return Number(rows[0]?.count);
    },
  };
}
