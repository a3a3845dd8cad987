import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPurserError, PaymentRequiredError } from './errors.ts';
import { asPaymentRequired } from './failure.ts';
import { guard } from './guard.ts';

const fields = {
  code: 'PAYMENT_REQUIRED',
  message: 'No.',
  correlationId: 'cor_1',
  topupUrl: 'https://purser.test/topup/x',
};
const refused = Object.assign(new Error('402 No.'), { status: 402, error: fields });

test('SDK-01 a 402 is found inside wrapping errors', () => {
  for (const error of [
    refused,
    new Error('the chain failed', { cause: refused }),
    Object.assign(new Error('after three tries'), { lastError: refused }),
    { type: 'error', error: refused },
    new Error('outer', { cause: new Error('inner', { cause: refused }) }),
    new PaymentRequiredError({ ...fields, code: 'PAYMENT_REQUIRED' }),
  ]) {
    const found = asPaymentRequired(error);
    assert.ok(isPurserError(found, 'PaymentRequiredError'));
    assert.deepEqual(
      [found.correlationId, found.topupUrl, found.message],
      ['cor_1', 'https://purser.test/topup/x', 'No.'],
    );
  }
});

test('SDK-01 other values are never taken for payment errors', () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  for (const error of [
    undefined,
    null,
    402,
    '402',
    'PAYMENT_REQUIRED',
    {},
    [],
    circle,
    new Error('402'),
    { status: '402' },
  ]) {
    assert.equal(asPaymentRequired(error), undefined);
  }
});

test('SDK-01 headers supply what the 402 body leaves out', () => {
  const told = { 'x-correlation-id': 'cor_2', 'x-service-topup-url': 'https://purser.test/topup/y' };
  for (const error of [
    { status: 402, headers: new Headers(told) },
    { statusCode: 402, responseHeaders: told, responseBody: '<h1>Payment required</h1>' },
  ]) {
    const found = asPaymentRequired(error);
    assert.deepEqual([found?.correlationId, found?.topupUrl], ['cor_2', 'https://purser.test/topup/y']);
    assert.equal(found?.code, 'PAYMENT_REQUIRED');
    assert.notEqual(found?.message, '');
  }
});

test('SDK-01 guard returns the answer or rethrows other errors', async () => {
  assert.equal(await guard(() => 'answer'), 'answer');
  assert.equal(await guard(async () => 'answer'), 'answer');
  const other = new Error('other');
  const throwing = (): never => {
    throw other;
  };
  await assert.rejects(guard(throwing), (error) => error === other);
  await assert.rejects(
    guard(() => Promise.reject(refused)),
    { name: 'PaymentRequiredError' },
  );
});

test('SDK-01 a 402 from another service is left alone', () => {
  const declined = Object.assign(new Error('Your card was declined.'), { statusCode: 402, code: 'card_declined' });
  assert.equal(asPaymentRequired(declined), undefined);
  assert.equal(asPaymentRequired(Object.assign(new Error('Pay'), { status: 402 })), undefined);
});
