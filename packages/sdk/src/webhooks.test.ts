import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { VECTORS } from '../../../tests/support/sdk-vectors.ts';
import { isPurserError, type WebhookVerificationError } from './errors.ts';
import { type Delivery, signTestPayload, verifyWebhook } from './webhooks.ts';
import type { WebhookEvent } from './wire.ts';

const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw';
const NOW = 1_800_000_000;
const EVENT: WebhookEvent = {
  id: 'evt_1',
  type: 'balance.low',
  createdAt: '2027-01-15T08:00:00.000Z',
  appId: 'app_1',
  data: { userId: 'ännchen', availableMicros: 1, thresholdMicros: 2, currency: 'EUR' },
};
const BODY = JSON.stringify(EVENT);

/** The signature, by an implementation independent of the one under test. */
function digest(seconds: number | string, body: string | Uint8Array = BODY, secret = SECRET): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
}

function verify(changes: Partial<Delivery> = {}): Promise<WebhookEvent> {
  const signature = `t=${NOW},v1=${digest(NOW)}`;
  return verifyWebhook({ body: BODY, signature, secret: SECRET, nowSeconds: NOW, ...changes });
}

async function reasonOf(verifying: Promise<unknown>): Promise<WebhookVerificationError['reason']> {
  const error: unknown = await verifying.then(
    () => undefined,
    (raised: unknown) => raised,
  );
  assert.ok(isPurserError(error, 'WebhookVerificationError'), String(error));
  assert.doesNotMatch(error.message, /whsec_|[0-9a-f]{64}/);
  return error.reason;
}

test('SDK-03 a delivery is verified over raw bytes and yields its event', async () => {
  const bytes = new TextEncoder().encode(BODY);
  const within = new Uint8Array([1, 2, ...bytes, 3]).subarray(2, -1); // Frameworks cut bodies out of larger buffers like this.
  for (const body of [BODY, bytes, within, bytes.buffer, Buffer.from(BODY)]) {
    const event = await verify({ body });
    assert.deepEqual(event, EVENT);
    assert.equal(event.id, 'evt_1');
  }
  const spaced = JSON.stringify(EVENT, undefined, 1);
  assert.equal(await reasonOf(verify({ body: spaced })), 'signature');
  const signature = `t=${NOW},v1=${digest(NOW, spaced)}`;
  for (const body of [spaced, Buffer.from(spaced)]) assert.deepEqual(await verify({ body, signature }), EVENT);
});

for (const { name, body, signature, secrets, nowSeconds, toleranceSeconds, event, reason } of VECTORS.webhooks) {
  test(`SDK-03 ${name}: ${reason === undefined ? 'accepted' : `refused, ${reason}`}`, async () => {
    const verifying = verifyWebhook({ body, signature, secret: secrets, nowSeconds, toleranceSeconds });
    if (reason !== undefined) return assert.equal(await reasonOf(verifying), reason);
    const { id, type } = await verifying;
    return assert.deepEqual({ id, type }, event);
  });
}

test('SDK-03 the real clock is used by default', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const fresh = { body: BODY, secret: SECRET, signature: `t=${now},v1=${digest(now)}` };
  assert.equal((await verifyWebhook(fresh)).id, 'evt_1');
});

test('SDK-03 the signature for endpoint tests equals the service’s', async () => {
  const { event, secret, seconds, attempt, body, headers } = VECTORS.signed;
  assert.deepEqual(await signTestPayload(event, { secret, seconds, attempt }), { body, headers });
  const now = await signTestPayload(EVENT, { secret: SECRET });
  const given = { body: now.body, signature: now.headers['x-service-signature'] ?? null, secret: SECRET };
  assert.deepEqual(await verifyWebhook(given), EVENT);
});

test('SDK-03 nothing is verified without a secret', async () => {
  for (const secret of ['', undefined, [], [SECRET, '']]) {
    await assert.rejects(verify({ secret: secret as string }), { name: 'TypeError', message: '`secret` is missing.' });
  }
});
