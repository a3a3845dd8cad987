import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { newCheckoutId, newRefundId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { createStripe } from '../../packages/service/src/payments/stripe/stripe.ts';
import { faultsOf, STRIPE_DESCRIPTION } from '../support/stripe-description.ts';
import { startStripeServer, type StripeServer } from '../support/stripe-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/**
 * The versions of Stripe's API since 2026-09-30 call the parameter of a checkout so, and refuse the older name. The newest
 * description and the newest stripe-mock are of 2026-08-26 (decision 68).
 */
const RENAMED = { since: '2026-09-30', now: 'allowed_payment_method_types', before: 'payment_method_types' } as const;

type Sent = StripeServer['requests'][number];
let stripe: StripeServer;
let requests: readonly Sent[];

/** Makes every kind of request that this service makes. */
before(async () => {
  stripe = await startStripeServer();
  const { secretKey, webhookSecret, url } = stripe;
  const processor = createStripe({ secretKey, webhookSecret, apiBase: new URL(url) }, systemClock);
  const order = {
    checkoutId: newCheckoutId(),
    amount: micros(12_340_000n),
    currency: 'EUR',
    appName: 'Test app',
    returnUrl: 'https://purser.test/checkout/1',
    cancelUrl: 'https://purser.test/checkout/1?paid=no',
    email: 'payer@example.test',
  };
  const { processorCheckout } = await processor.openCheckout(order);
  await processor.openCheckout({ ...order, checkoutId: newCheckoutId(), email: undefined });
  const processorPayment = stripe.pay(processorCheckout);
  await processor.refund({ refundId: newRefundId(), processorPayment, amount: micros(1_000_000n), currency: 'EUR' });
  for (let count = 0; count < stripe.pageSize; count += 1) stripe.refundThere(processorPayment, 100);
  stripe.dispute(processorPayment, 300);
  await processor.lookUp(processorPayment);
  await processor.lookUpCheckout(processorCheckout);
  requests = [...stripe.requests];
});

after(() => stripe.close());

/** The request as an API before the change would want it. */
function asBefore({ form, ...request }: Sent): Sent {
  const renamed = Object.entries(form).map(([name, value]) => [name.replace(RENAMED.now, RENAMED.before), value]);
  return { ...request, form: Object.fromEntries(renamed) as Sent['form'] };
}

test('ON-03 requests to Stripe match its OpenAPI description but for one field', () => {
  const kinds = new Set(requests.map(({ method, path: where }) => `${method} ${where.split('/')[2]}`));
  assert.deepEqual(kinds.size, 6, [...kinds].join());
  for (const request of requests) {
    const sent = String(request.headers['stripe-version']);
    const isBehind = STRIPE_DESCRIPTION.version < RENAMED.since && sent >= RENAMED.since;
    const isCheckout = request.method === 'POST' && request.path === '/v1/checkout/sessions';
    assert.deepEqual(faultsOf(request), isBehind && isCheckout ? [`${RENAMED.now} is unknown`] : []);
    assert.deepEqual(faultsOf(isBehind ? asBefore(request) : request), []);
  }
});

test('ON-03 the description check sees every kind of error', () => {
  const checkout: Sent | undefined = requests.map(asBefore)[0];
  assert.ok(checkout);
  for (const [change, fault] of [
    [{ mode: 'pay' }, 'mode must not be pay'],
    [{ expires_at: 'soon' }, 'expires_at must be a integer'],
    [{ 'line_items[0][price_data][unit_price]': '1' }, 'line_items[].price_data.unit_price is unknown'],
    [{ locale: 'de' }, 'locale is not in the extract of the description'],
    [{ metadata: 'x' }, 'metadata must be an object'],
    [{ nothing: 'x' }, 'nothing is unknown'],
  ] as const) {
    const whole = 'metadata' in change ? 'metadata[' : undefined;
    const kept = Object.entries(checkout.form).filter(([name]) => whole === undefined || !name.startsWith(whole));
    const form: Sent['form'] = { ...Object.fromEntries(kept), ...change };
    assert.deepEqual(faultsOf({ ...checkout, form }), [fault]);
  }
});

/** Where `go install github.com/stripe/stripe-mock@latest` puts it, or anywhere on the path. */
function findMock(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  for (const go of ['go', '/usr/local/go/bin/go']) {
    try {
      folders.push(path.join(execFileSync(go, ['env', 'GOPATH'], { encoding: 'utf8' }).trim(), 'bin'));
      break;
    } catch {
      // No Go here.
    }
  }
  return folders.map((folder) => path.join(folder, 'stripe-mock')).find((file) => existsSync(file));
}

const LOOPBACK = '127.0.0.1:0';
const HTTP_ADDRESS = /HTTP at address: (127\.0\.0\.1:\d+)\n/;
const mock = findMock();
const skip = mock === undefined && 'stripe-mock is not installed: `go install github.com/stripe/stripe-mock@latest`';

test('ON-03 stripe-mock accepts every request but for one newer field', { skip }, async () => {
  let mockProcess: ChildProcess | undefined;
  try {
    mockProcess = spawn(mock ?? '', ['-http-addr', LOOPBACK, '-https-addr', LOOPBACK], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    mockProcess.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()));
    await waitUntil('stripe-mock listens', () => HTTP_ADDRESS.test(said));
    const url = `http://${HTTP_ADDRESS.exec(said)?.[1]}`;
    for (const request of requests) {
      const first = await askMock(url, request);
      if (first.status !== 200) {
        assert.match(first.text, /additional properties are not allowed/); // It does not say which.
        assert.ok(String(request.headers['stripe-version']) >= RENAMED.since);
        const { status, text } = await askMock(url, asBefore(request));
        assert.equal(status, 200, text);
      }
    }
    const [checkout] = requests;
    assert.ok(checkout);
    const wrong = await askMock(url, { ...asBefore(checkout), form: { ...asBefore(checkout).form, mode: 'pay' } });
    assert.equal(wrong.status, 400, wrong.text);
  } finally {
    mockProcess?.kill();
  }
});

async function askMock(url: string, { method, path: where, form, headers }: Sent) {
  const fields = new URLSearchParams(form).toString();
  const isPost = method === 'POST';
  const response = await fetch(`${url}${where}${isPost || fields === '' ? '' : `?${fields}`}`, {
    method,
    headers: {
      authorization: String(headers.authorization),
      'stripe-version': String(headers['stripe-version']),
      ...(isPost ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
    ...(isPost ? { body: fields } : {}),
  });
  return { status: response.status, text: await response.text() };
}
