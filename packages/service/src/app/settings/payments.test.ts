import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPayments } from '#app/settings/payments.ts';
import { readSettings } from '#app/environment/settings-reader.ts';

const KEYS = { PURSER_STRIPE_SECRET_KEY: 'sk_live_hush', PURSER_STRIPE_WEBHOOK_SECRET: 'whsec_hush' };

function read(environment: Readonly<Record<string, string>>, mode = 'production') {
  const settings = readSettings(environment);
  return { payments: readPayments(settings, mode), faults: settings.faults() };
}

test('ON-03 the processor is Stripe, the test one or none by setting', () => {
  assert.equal(read({}).payments.processor, 'none');
  assert.equal(read({}, 'development').payments.processor, 'test');
  for (const mode of ['production', 'development']) {
    assert.deepEqual(read(KEYS, mode), {
      payments: {
        processor: 'stripe',
        stripe: { secretKey: 'sk_live_hush', webhookSecret: 'whsec_hush', apiBase: undefined },
        isTestKey: false,
      },
      faults: [],
    });
    assert.equal(read({ ...KEYS, PURSER_PAYMENTS: 'none' }, mode).payments.processor, 'none');
  }
  const test = read({ ...KEYS, PURSER_PAYMENTS: 'test' }, 'development');
  assert.deepEqual(test, { payments: { processor: 'test' }, faults: [] });
});

test('ON-03 production refuses the test processor', () => {
  assert.match(read({ PURSER_PAYMENTS: 'test' }).faults.join(), /PURSER_PAYMENTS=test moves no real money/);
});

test('ON-03 all payment setting faults appear together, without secrets', () => {
  for (const [environment, count] of [
    [{ PURSER_PAYMENTS: 'stripe' }, 2],
    [{ PURSER_STRIPE_SECRET_KEY: 'sk_live_hush' }, 1],
    [{ ...KEYS, PURSER_STRIPE_SECRET_KEY: 'sk_live hush' }, 1],
    [{ ...KEYS, PURSER_STRIPE_WEBHOOK_SECRET: 'whsec_hush\n' }, 1],
    [{ ...KEYS, PURSER_STRIPE_API_BASE: 'localhost:4242' }, 1],
    [{ ...KEYS, PURSER_STRIPE_API_BASE: 'https://user:hush@stripe.test' }, 1],
    [{ ...KEYS, PURSER_STRIPE_API_BASE: 'https://stripe.test/v1' }, 1],
    [{ ...KEYS, PURSER_STRIPE_API_BASE: 'http://stripe.test' }, 1],
    [{ ...KEYS, PURSER_PAYMENTS: 'paypal' }, 1],
  ] as const) {
    const { faults } = read(environment);
    assert.equal(faults.length, count, JSON.stringify([environment, faults]));
    assert.doesNotMatch(faults.join(), /hush/);
  }
  const base = { ...KEYS, PURSER_STRIPE_API_BASE: 'http://127.0.0.1:4242' };
  assert.deepEqual(read(base, 'development').faults, []);
});

test('ON-03 a Stripe test key is recognised as one', () => {
  for (const [key, isTest] of [
    ['sk_test_1', true],
    ['rk_test_1', true],
    ['sk_live_1', false],
    ['rk_live_test_1', false],
  ] as const) {
    const { payments } = read({ ...KEYS, PURSER_STRIPE_SECRET_KEY: key });
    assert.equal(payments.processor === 'stripe' && payments.isTestKey, isTest, key);
  }
});
