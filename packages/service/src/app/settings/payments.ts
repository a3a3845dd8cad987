import type { SettingsReader } from '#app/environment/settings-reader.ts';
import { VISIBLE_ASCII } from '#kernel/text/header-text.ts';
import type { StripeSettings } from '#payments/stripe/stripe.ts';

/** The payment processor, and how to reach it. */
export type PaymentSettings =
  | {
      readonly processor: 'stripe';
      readonly stripe: StripeSettings;
      /** With a test key, no real money moves. */
      readonly isTestKey: boolean;
    }
  | { readonly processor: 'test' }
  | { readonly processor: 'none' };

const TEST_KEY = /^[a-z]+_test_/;

/** Reads the payment settings. Complaints never quote a secret. */
export function readPayments(settings: SettingsReader, environment: string): PaymentSettings {
  const secretKey = settings.text('PURSER_STRIPE_SECRET_KEY');
  const isProduction = environment === 'production';
  const fallback = secretKey !== undefined ? 'stripe' : isProduction ? 'none' : 'test';
  const processor = settings.choice('PURSER_PAYMENTS', ['stripe', 'test', 'none'], fallback);
  if (processor === 'none') return { processor };
  if (processor === 'test') {
    if (isProduction) settings.complain('PURSER_PAYMENTS=test moves no real money. Remove it in production.');
    return { processor };
  }
  const webhookSecret = settings.text('PURSER_STRIPE_WEBHOOK_SECRET');
  for (const [name, value] of [
    ['PURSER_STRIPE_SECRET_KEY', secretKey],
    ['PURSER_STRIPE_WEBHOOK_SECRET', webhookSecret],
  ] as const) {
    if (value === undefined) settings.complain(`${name} is required for payments by Stripe.`);
    else if (!VISIBLE_ASCII.test(value))
      settings.complain(`${name} must consist of visible ASCII characters without spaces.`);
  }
  const apiBase = readApiBase(settings, isProduction);
  const stripe = { secretKey: secretKey ?? '', webhookSecret: webhookSecret ?? '', apiBase };
  return { processor, stripe, isTestKey: TEST_KEY.test(stripe.secretKey) };
}

/** Another address for Stripe's API, such as a test double. The secret key is sent there, so production requires https. */
function readApiBase(settings: SettingsReader, isProduction: boolean): URL | undefined {
  const value = settings.text('PURSER_STRIPE_API_BASE');
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isBare = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    settings.complain('PURSER_STRIPE_API_BASE must be an http or https URL without a path.');
    return undefined;
  }
  if (isProduction && url.protocol === 'http:') {
    settings.complain(
      'PURSER_STRIPE_API_BASE must be https in production, or the secret key would be sent unencrypted.',
    );
  }
  return url;
}
