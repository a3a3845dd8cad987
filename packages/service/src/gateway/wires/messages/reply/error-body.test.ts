import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_STATUS, ERROR_TYPE, type ErrorCode } from '@purser/contract/errors.ts';
import { errorOf } from '#gateway/wires/messages/reply/error-body.ts';

/** The types that the vendor's libraries know, by the status that the vendor sends with each. */
const KNOWN: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_request_error'],
  401: ['authentication_error'],
  402: ['billing_error'],
  403: ['permission_error'],
  404: ['not_found_error'],
  405: ['invalid_request_error'],
  409: ['invalid_request_error'],
  413: ['request_too_large'],
  429: ['rate_limit_error'],
  500: ['api_error'],
  502: ['api_error'],
};

test('WI-09 each error has a type of the vendor and all of our envelope', () => {
  for (const code of Object.keys(ERROR_STATUS) as ErrorCode[]) {
    const error = { code, message: 'No.', correlationId: 'cor_1', type: ERROR_TYPE[code], param: 'model' };
    const { type, ...rest } = error;
    const body = errorOf({ error });
    const told = (body['error'] as { readonly type: string }).type;
    assert.ok(KNOWN[ERROR_STATUS[code]]?.includes(told), `${code} ${told}`);
    assert.deepEqual(body, {
      type: 'error',
      error: { ...rest, type: told, serviceType: type },
      request_id: 'cor_1',
    });
  }
});

test('WI-09 the message of a 402 holds the link, once', () => {
  const topupUrl = 'https://a.example/pay';
  const error = { code: 'PAYMENT_REQUIRED', correlationId: 'cor_1', type: 'insufficient_funds', param: null } as const;
  for (const message of ['Top up:', `Top up: ${topupUrl}`]) {
    const body = errorOf({ error: { ...error, message, topupUrl }, topupUrl });
    assert.deepEqual(body, {
      type: 'error',
      error: {
        type: 'billing_error',
        message: `Top up: ${topupUrl}`,
        code: 'PAYMENT_REQUIRED',
        correlationId: 'cor_1',
        param: null,
        topupUrl,
        serviceType: 'insufficient_funds',
      },
      request_id: 'cor_1',
      topupUrl,
    });
  }
});
