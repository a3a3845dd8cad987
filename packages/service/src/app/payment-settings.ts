import type { SettingsReader } from '#app/settings.ts';
import { VISIBLE_ASCII } from '#kernel/header-text.ts';
import type { StripeSettings } from '#payments/stripe/stripe.ts';

/** Who moves real money, and how to reach him. */
export type PaymentSettings =
  | { readonly processor: 'stripe'; readonly stripe: StripeSettings }
  | { readonly processor: 'test' }
  | { readonly processor: 'none' };

const TEST_KEY = /^[a-z]+_test_/;

/** What is wrong is told without the secrets. */
export function readPayments(settings: SettingsReader, environment: string): PaymentSettings {
  const secretKey = settings.text('PURSER_STRIPE_SECRET_KEY');
  const isProduction = environment === 'production';
  const fallback = secretKey !== undefined ? 'stripe' : isProduction ? 'none' : 'test';
  const processor = settings.choice('PURSER_PAYMENTS', ['stripe', 'test', 'none'], fallback);
  if (processor === 'none') return { processor };
  if (processor === 'test') {
    if (isProduction) settings.complain('PURSER_PAYMENTS=test moves no real money: remove it in production.');
    return { processor };
  }
  const webhookSecret = settings.text('PURSER_STRIPE_WEBHOOK_SECRET');
  for (const [name, value] of [
    ['PURSER_STRIPE_SECRET_KEY', secretKey],
    ['PURSER_STRIPE_WEBHOOK_SECRET', webhookSecret],
  ] as const) {
    if (value === undefined) settings.complain(`${name} is required for payments by Stripe.`);
    else if (!VISIBLE_ASCII.test(value)) settings.complain(`${name} must be visible ASCII characters without spaces.`);
  }
  const apiBase = readApiBase(settings, isProduction);
  return { processor, stripe: { secretKey: secretKey ?? '', webhookSecret: webhookSecret ?? '', apiBase } };
}

/** True for a key with which Stripe moves no real money. */
export function isTestKey(payments: PaymentSettings): boolean {
  return payments.processor === 'stripe' && TEST_KEY.test(payments.stripe.secretKey);
}

function readApiBase(settings: SettingsReader, isProduction: boolean): URL | undefined {
  const value = settings.text('PURSER_STRIPE_API_BASE');
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isBare = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    settings.complain('PURSER_STRIPE_API_BASE must be an http or https address without a path.');
    return undefined;
  }
  if (isProduction && url.protocol === 'http:') {
    settings.complain('PURSER_STRIPE_API_BASE would send the key in clear: it must be https in production.');
  }
  return url;
}
