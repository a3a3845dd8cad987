import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VECTORS } from '../../../tests/support/sdk-vectors.ts';
import { Purser } from './client.ts';
import { PaymentRequiredError, ServiceApiError } from './errors.ts';

const BASE = 'https://purser.test';

for (const { name, status, headers, body, error, ...fields } of VECTORS.answers) {
  test(`SDK-01 ${name}: ${error} ${fields.code}`, async () => {
    const fetch = async () => new Response(body, { status, headers });
    const raised: unknown = await new Purser({ baseURL: BASE, apiKey: 'k', fetch }).balance('anna').catch((one) => one);
    assert.ok(raised instanceof PaymentRequiredError || raised instanceof ServiceApiError, String(raised));
    const { code, message, correlationId } = raised;
    const link = 'topupUrl' in raised ? { topupUrl: raised.topupUrl } : {};
    assert.deepEqual([raised.name, raised.status], [error, status]);
    assert.deepEqual({ code, message, correlationId, ...link }, fields);
  });
}

test('SDK-02 addresses, keys and users are validated as in every package', () => {
  const { addresses, keys, users } = VECTORS;
  for (const [baseURL = '', wanted] of addresses.accepted) {
    assert.equal(new Purser({ baseURL, apiKey: 'k' }).forUser('anna').baseURL, wanted);
  }
  for (const baseURL of addresses.refused) {
    assert.throws(
      () => new Purser({ baseURL, apiKey: 'k' }),
      (error) => error instanceof TypeError && !error.message.includes('secret'),
      baseURL,
    );
  }
  for (const apiKey of keys.refused) assert.throws(() => new Purser({ baseURL: BASE, apiKey }), TypeError, apiKey);
  const purser = new Purser({ baseURL: BASE, apiKey: 'k' });
  for (const user of users.accepted) assert.equal(purser.forUser(user).userId, user);
  for (const user of users.refused) assert.throws(() => purser.forUser(user), TypeError, user);
});
