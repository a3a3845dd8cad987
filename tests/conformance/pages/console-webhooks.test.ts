import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_SCHEMAS } from '@purser/contract/webhook-events.ts';
import { EVENT_TYPES } from '@purser/contract/webhooks.ts';
import { systemClock } from '../../../packages/service/src/kernel/clock.ts';
import { newAccountId } from '../../../packages/service/src/kernel/ids.ts';
import { randomBytes } from '../../../packages/service/src/kernel/random.ts';
import { Refusal } from '../../../packages/service/src/kernel/refusal.ts';
import { createCourier } from '../../../packages/service/src/webhooks/deliver.ts';
import { createEndpointGuard } from '../../../packages/service/src/webhooks/endpoint-guard.ts';
import { createDeliveryHistory } from '../../../packages/service/src/webhooks/history.ts';
import { createSigningSecrets } from '../../../packages/service/src/webhooks/signing-secret.ts';
import { createSendTest } from '../../../packages/service/src/webhooks/test-event.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createVerifier } from '../../support/webhook-receiver.ts';
import { setWebhookStage } from '../../support/webhook-stage.ts';

const failing = new Set<string>();
const { receiver, subscribe, owner, service, topUp, whenQuiet, events } = await setWebhookStage((path) =>
  failing.has(path) ? 500 : 200,
);
const { health } = createDeliveryHistory(service.database.owner);
const hook = (appId: string, more = '') => `/apps/${appId}/webhook${more}`;

test('WH-08 WH-09 WH-12 a test event of each type is signed like the others, and counts for nothing', async () => {
  const { appId, path, secret } = await subscribe();
  const sendTest = (type: string) => owner.get(200, 'POST', hook(appId, '/test'), { type });
  const verify = createVerifier(secret);
  for (const [at, type] of EVENT_TYPES.entries()) {
    const { eventId, body, attempt } = await sendTest(type);
    const received = receiver.at(path)[at];
    assert.match(String(eventId), /^evt_test_[0-9a-f]{32}$/);
    assert.equal(received?.body.toString('utf8'), body);
    assert.deepEqual(EVENT_SCHEMAS[type].safeParse(JSON.parse(String(body))).error, undefined);
    assert.equal(received?.headers['x-service-event-id'], eventId);
    assert.equal(received?.headers['x-service-event-type'], type);
    assert.equal(received && verify(received, received.atMs), 'accepted');
    assert.equal((attempt as { status: number }).status, 200);
  }
  failing.add(path);
  for (let times = 0; times < 6; times += 1) {
    const { attempt } = await sendTest('topup.completed');
    assert.equal((attempt as { status: number }).status, 500);
  }
  const shown = await owner.get(200, 'GET', hook(appId));
  assert.deepEqual([shown['status'], shown['droppedInRow'], (await events(appId)).length], ['active', 0, 0]);
  assert.deepEqual(await health(appId), {
    status: 'active',
    delivered: 0,
    failing: 0,
    dropped: 0,
    isPartial: false,
    lastFailure: undefined,
  });
  await sendTest('topup.completed');
  assertRefusal(await owner.ask('POST', hook(appId, '/test'), { type: 'balance.low' }), { code: 'TOO_MANY_REQUESTS' });
  assertRefusal(await owner.ask('POST', hook(appId, '/test'), { type: 'x' }), { code: 'BAD_REQUEST', param: 'type' });
  const trail = await owner.get(200, 'GET', `/accounts/current/audit?appId=${appId}&limit=1`);
  const [entry] = trail['entries'] as { action: string; after: Record<string, unknown> }[];
  assert.deepEqual([entry?.action, entry?.after['type']], ['webhook.test', 'topup.completed']);
});

test('WH-02 a test event goes to no address that a delivery may not go to', async () => {
  const courier = createCourier({ guard: createEndpointGuard({ allowPrivate: false }), clock: systemClock });
  const { appId, path } = await subscribe();
  const db = service.database.owner;
  const secrets = createSigningSecrets(randomBytes(32));
  await db.query('update webhooks.subscriptions set sealed_secret = $2 where app_id = $1', [
    appId,
    secrets.seal(appId, secrets.create()),
  ]);
  const send = createSendTest({
    pool: db,
    courier,
    secrets,
    clock: systemClock,
    currency: 'EUR',
    pace: () => undefined,
  });
  const by = { accountId: newAccountId(), email: owner.email, from: '127.0.0.1' };
  const sent = await send(by, appId, 'topup.completed');
  assert.ok(sent !== undefined && !(sent instanceof Refusal));
  assert.equal(sent.error, 'address_blocked');
  assert.equal(receiver.at(path).length, 0);
  await courier.close();
});

test('WH-12 WH-14 the health of a webhook counts the events of a day, and names the latest failure', async () => {
  const { appId, path } = await subscribe();
  failing.add(path);
  await topUp(appId, 'anna', 10);
  await waitUntil('the first attempt failed', async () => (await events(appId))[0]?.attempt === 2);
  failing.delete(path);
  for (let times = 0; times < 3; times += 1) await topUp(appId, 'anna', 10);
  await whenQuiet();
  const { lastFailure, ...counts } = await health(appId);
  assert.deepEqual(counts, { status: 'active', delivered: 3, failing: 1, dropped: 0, isPartial: false });
  assert.deepEqual([lastFailure?.status, lastFailure?.error], [500, undefined]);
  await owner.get(204, 'DELETE', hook(appId));
  assert.deepEqual(await health(appId), {
    ...counts,
    status: undefined,
    failing: 0,
    dropped: 1,
    lastFailure: undefined,
  });
});
