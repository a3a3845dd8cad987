import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
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

test('SDK-03 a delivery is verified over its raw bytes, and yields its event and the id that prevents handling it twice', async () => {
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

test('SDK-03 the elements of the header may come in any order, among unknown ones', async () => {
  const v1 = digest(NOW);
  for (const signature of [`v1=${v1},t=${NOW}`, `v2=later,t=${NOW},v0=,v1=${v1},flag,x=a=b`, `t=${NOW}, v1=${v1}`]) {
    assert.equal((await verify({ signature })).id, 'evt_1', signature);
  }
});

test('SDK-03 a missing, malformed or ambiguous header is refused as such', async () => {
  const v1 = digest(NOW);
  for (const signature of [
    undefined,
    null,
    '',
    `v1=${v1}`,
    `t=${NOW}`,
    `t=${NOW},v2=${v1}`,
    `t=,v1=${v1}`,
    `t=-1,v1=${v1}`,
    `t=1e9,v1=${v1}`,
    `t=${NOW},t=${NOW + 1},v1=${v1}`,
    `t=${NOW},v1=${v1},v1=${v1}`,
  ]) {
    assert.equal(await reasonOf(verify({ signature })), 'header', String(signature));
  }
});

test('SDK-03 a signature of other text, by another secret, or of another length is refused', async () => {
  const v1 = digest(NOW);
  for (const other of [
    digest(NOW + 1),
    digest(NOW, `${BODY} `),
    digest(NOW, BODY, SECRET.replace('whsec_', '')),
    digest(NOW, BODY, `${SECRET}x`),
    `${v1}0`,
    v1.slice(0, -1),
    v1.slice(0, -1) + (v1.endsWith('0') ? '1' : '0'),
    (v1.startsWith('0') ? '1' : '0') + v1.slice(1),
    v1.toUpperCase(),
    'é'.repeat(64),
  ]) {
    assert.equal(await reasonOf(verify({ signature: `t=${NOW},v1=${other}` })), 'signature', other);
  }
});

test('SDK-03 a timestamp is fresh up to 300 seconds either side, and is checked only after the signature', async () => {
  for (const [away, isFresh] of [
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ] as const) {
    const verifying = verify({ nowSeconds: NOW + away });
    if (isFresh) assert.equal((await verifying).id, 'evt_1');
    else assert.equal(await reasonOf(verifying), 'stale');
  }
  const forged = { signature: `t=${NOW},v1=${digest(NOW + 1)}`, nowSeconds: NOW + 999 };
  assert.equal(await reasonOf(verify(forged)), 'signature', 'a forged delivery does not learn its age');
  const now = Math.floor(Date.now() / 1_000);
  const fresh = { body: BODY, secret: SECRET, signature: `t=${now},v1=${digest(now)}` };
  assert.equal((await verifyWebhook(fresh)).id, 'evt_1', 'the clock is used unless a test says otherwise');
});

test('SDK-03 a signed and fresh delivery that holds no event is refused last', async () => {
  for (const body of ['', 'not JSON', 'null', '[]', '{"id":"evt_1"}', '{"id":1,"type":"balance.low","data":{}}']) {
    const signature = `t=${NOW},v1=${digest(NOW, body)}`;
    assert.equal(await reasonOf(verify({ body, signature })), 'body', body);
    assert.equal(await reasonOf(verify({ body, signature, nowSeconds: NOW + 301 })), 'stale', body);
  }
});

test('SDK-03 the signature made for endpoint tests is the one that the service makes', async () => {
  const { body, headers } = await signTestPayload(EVENT, { secret: SECRET, seconds: NOW, attempt: 2 });
  assert.equal(body, BODY);
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    'user-agent': 'service-webhooks/1',
    'x-service-event-id': 'evt_1',
    'x-service-event-type': 'balance.low',
    'x-service-delivery-attempt': '2',
    'x-service-signature': `t=${NOW},v1=${digest(NOW)}`,
  });
  const now = await signTestPayload(EVENT, { secret: SECRET });
  const given = { body: now.body, signature: now.headers['x-service-signature'] ?? null, secret: SECRET };
  assert.deepEqual(await verifyWebhook(given), EVENT);
});

test('SDK-03 nothing is verified without a secret', async () => {
  for (const secret of ['', undefined]) {
    await assert.rejects(verify({ secret: secret as string }), { name: 'TypeError', message: '`secret` is missing.' });
  }
});
