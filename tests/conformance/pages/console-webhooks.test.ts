import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_SCHEMAS } from '@purser/contract/webhook-events.ts';
import { EVENT_TYPES } from '@purser/contract/webhooks.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { newAccountId } from '../../../packages/service/src/kernel/values/ids.ts';
import { randomBytes } from '../../../packages/service/src/kernel/crypto/random.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { createCourier } from '../../../packages/service/src/webhooks/delivery/deliver.ts';
import { createEndpointGuard } from '../../../packages/service/src/webhooks/delivery/endpoint-guard.ts';
import { createDeliveryHistory } from '../../../packages/service/src/webhooks/history/history.ts';
import { createSigningSecrets } from '../../../packages/service/src/webhooks/delivery/signing-secret.ts';
import { createSendTest } from '../../../packages/service/src/webhooks/subscriptions/test-event.ts';
import { send } from '../../support/client.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createVerifier } from '../../support/webhook-receiver.ts';
import { setWebhookStage } from '../../support/webhook-stage.ts';

const failing = new Set<string>();
const { receiver, subscribe, newApp, owner, service, topUp, whenQuiet, events } = await setWebhookStage((path) =>
  failing.has(path) ? 500 : 200,
);
const { health } = createDeliveryHistory(service.database.owner);
const hook = (appId: string, more = '') => `/apps/${appId}/webhook${more}`;

test('WH-16 WH-10 a test event of each type is signed and counts for nothing', async () => {
  const { appId, path, secret } = await subscribe({ events: EVENT_TYPES, lowBalanceThresholdMicros: 1_000_000 });
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
  // On a busy machine, some of the tests that count have been forgiven meanwhile.
  let last = await owner.ask('POST', hook(appId, '/test'), { type: 'topup.completed' });
  for (let more = EVENT_TYPES.length + 7; last.status === 200 && more > 0; more -= 1)
    last = await owner.ask('POST', hook(appId, '/test'), { type: 'topup.completed' });
  assertRefusal(last, { code: 'TOO_MANY_REQUESTS' });
  assertRefusal(await owner.ask('POST', hook(appId, '/test'), { type: 'x' }), { code: 'BAD_REQUEST', param: 'type' });
  const trail = await owner.get(200, 'GET', `/accounts/current/audit?appId=${appId}&limit=1`);
  const [entry] = trail['entries'] as { action: string; after: Record<string, unknown> }[];
  assert.deepEqual([entry?.action, entry?.after['type']], ['webhook.test', 'topup.completed']);
});

test('WH-16 a test event reaches every purser listen of the app', async () => {
  const { appId } = await newApp();
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/webhooks`;
  await browser.open(page);
  assertRefusal(await owner.ask('POST', hook(appId, '/test'), { type: 'balance.low' }), { code: 'NOT_FOUND' });
  const nowhere = await browser.submit(page, { act: 'test', type: 'balance.low' }, 'Send');
  assertPage(nowhere, 404, 'Webhooks', IN_CONSOLE);
  assert.match(nowhere.text, /Start one of the two/);

  const listen = () => owner.get(201, 'POST', hook(appId, '/listeners'), { events: ['topup.completed'] });
  const [one, other] = [await listen(), await listen()];
  const elsewhere = await subscribe();
  const stranger = await owner.get(201, 'POST', hook(elsewhere.appId, '/listeners'), { events: ['topup.completed'] });
  const sent = await browser.submit(page, { act: 'test', type: 'balance.low' }, 'Send');
  assertPage(sent, 200, 'Webhooks', IN_CONSOLE);
  assert.match(sent.text, /2 commands received it/);
  assert.match(sent.text, /There is no endpoint/);
  const copiesOf = async (app: string, { listenerId }: Record<string, unknown>) => {
    const { events } = await owner.get(200, 'GET', hook(app, `/listeners/${String(listenerId)}/events?waitSeconds=0`));
    return events as { eventId: string; type: string; body: string }[];
  };
  const copies = await copiesOf(appId, one);
  assert.deepEqual(await copiesOf(appId, other), copies);
  const [{ eventId, type, body } = { eventId: '', type: '', body: '' }] = copies;
  assert.deepEqual([copies.length, type, JSON.parse(body).id], [1, 'balance.low', eventId]);
  assert.match(eventId, /^evt_test_[0-9a-f]{32}$/);
  assert.deepEqual(EVENT_SCHEMAS['balance.low'].safeParse(JSON.parse(body)).error, undefined);
  assert.deepEqual(await copiesOf(elsewhere.appId, stranger), [], 'another app hears nothing');

  const both = await owner.get(200, 'POST', hook(elsewhere.appId, '/test'), { type: 'topup.completed' });
  assert.deepEqual([both['listeners'], (both['attempt'] as { status: number }).status], [1, 200]);
  assert.deepEqual((await copiesOf(elsewhere.appId, stranger))[0]?.body, both['body']);
  assert.deepEqual([await events(appId), await events(elsewhere.appId)], [[], []]);
});

test('WH-03 WH-16 an endpoint gets no test of another type, or while disabled', async () => {
  const { appId, path } = await subscribe();
  const test = (status: number, type: string) => owner.get(status, 'POST', hook(appId, '/test'), { type });
  const refused = async (type: string, remedy: RegExp) => {
    const reply = await owner.ask('POST', hook(appId, '/test'), { type });
    assertRefusal(reply, { code: 'CONFLICT', param: null });
    assert.match(String(reply.error['message']), remedy);
  };
  await refused('balance.low', /not subscribed to balance\.low.*Add this type to its events, or start `purser listen`/);
  const disable = () => sql(service)`update webhooks.subscriptions
    set status = 'disabled', disabled_reason = 'delivery_failures' where app_id = ${appId} and listener_id is null`;
  await disable();
  await refused('topup.completed', /disabled.*Enable it again by saving it/);
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/webhooks`;
  await browser.open(page);
  const answer = await browser.submit(page, { act: 'test', type: 'topup.completed' }, 'Send');
  assertPage(answer, 409, 'Webhooks', IN_CONSOLE);

  await owner.get(201, 'POST', hook(appId, '/listeners'), { events: ['topup.completed'] });
  for (const type of ['topup.completed', 'balance.low']) {
    const { attempt, listeners, passedOver } = await test(200, type);
    assert.deepEqual([attempt, listeners, passedOver], [null, 1, 'disabled']);
  }
  await owner.get(200, 'PUT', hook(appId), { endpointUrl: receiver.url + path, events: ['topup.completed'] });
  assert.equal((await test(200, 'balance.low'))['passedOver'], 'not_subscribed');
  assert.deepEqual(receiver.at(path), [], 'the endpoint has got nothing so far');
  assert.equal((await test(200, 'topup.completed'))['passedOver'], null);
  assert.equal(receiver.at(path).length, 1);
  assert.deepEqual(await events(appId), []);
});

test('WH-16 WH-02 a test event goes to no forbidden address', async () => {
  const courier = createCourier({ guard: createEndpointGuard({ allowPrivate: false }), clock: systemClock });
  const { appId, path } = await subscribe();
  const db = service.database.owner;
  const secrets = createSigningSecrets(randomBytes(32));
  await sql(db)`update webhooks.subscriptions set sealed_secret = ${secrets.seal(appId, secrets.create())}
    where app_id = ${appId}`;
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
  assert.ok(!(sent instanceof Refusal));
  assert.equal(sent.attempt?.error, 'address_blocked');
  assert.equal(receiver.at(path).length, 0);
  await courier.close();
});

test('WH-12 WH-14 webhook health counts a day’s events and names the latest failure', async () => {
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

test('WH-01 an endpoint is managed on its page, its secret shown once', async () => {
  const { appId } = await newApp();
  const browser = await signedInBrowser(service, owner.email);
  const path = `/console/${appId}/webhooks`;
  assertPage(await browser.open(path), 200, 'Webhooks', IN_CONSOLE);
  const typed = { endpointUrl: `${receiver.url}/page`, threshold: '2.50', act: 'put' };
  const refused = await browser.submit(path, { ...typed, endpointUrl: 'http://me:secret@app.test' });
  assertPage(refused, 400, 'Webhooks', IN_CONSOLE);
  assert.match(refused.text, /“Address” must have no credentials/);
  assertPage(await browser.submit(path, { ...typed, threshold: '1.234' }), 400, 'Webhooks', IN_CONSOLE);
  const made = await browser.submit(path, typed);
  assertPage(made, 200, 'Webhooks', IN_CONSOLE);
  const [, secret = ''] = /id="secret">(whsec_[0-9A-Za-z]{43})</.exec(made.text) ?? [];
  assert.notEqual(secret, '', made.text);
  assert.ok(!(await browser.open(path)).text.includes(secret));
  const shown = await owner.get(200, 'GET', hook(appId));
  assert.equal(shown['lowBalanceThresholdMicros'], 2_500_000);

  const tested = await browser.submit(path, { act: 'test', type: 'connection.created' }, 'Send');
  assertPage(tested, 200, 'Webhooks', IN_CONSOLE);
  assert.match(tested.text, /The test event was delivered/);
  const [delivered] = receiver.at('/page');
  assert.equal(delivered && createVerifier(secret)(delivered, delivered.atMs), 'accepted');
  assertPage(await browser.submit(path, { act: 'test', type: 'x' }, 'Send'), 400, 'Webhooks', IN_CONSOLE);

  const rotated = await browser.submit(path, { act: 'secret' }, 'Make a new secret');
  const [, second = ''] = /id="secret">(whsec_[0-9A-Za-z]{43})</.exec(rotated.text) ?? [];
  assert.ok(second !== '' && second !== secret);
  await sql(service)`update webhooks.subscriptions set status = 'disabled', disabled_reason = 'delivery_failures'
    where app_id = ${appId}`;
  assert.match((await browser.open(path)).text, /The endpoint is disabled/);
  const enabled = await browser.submit(path, { ...typed, 'balance.low': '', 'topup.completed': '' }, 'Enable it again');
  assert.match(enabled.text, /The endpoint was saved/);
  const now = await owner.get(200, 'GET', hook(appId));
  assert.deepEqual(
    [now['status'], now['events'], now['lowBalanceThresholdMicros']],
    ['active', ['connection.created'], null],
  );
  const removed = await browser.submit(path, { act: 'remove' }, 'Remove the endpoint');
  assert.match(removed.text, /The endpoint was removed/);
  assertRefusal(await owner.ask('GET', hook(appId)), { code: 'NOT_FOUND' });
});

test('WH-14 the page lists deliveries and shows each event’s facts', async () => {
  const { appId, path } = await subscribe();
  failing.add(path);
  await topUp(appId, "it's anna", 10);
  await waitUntil('the first attempt failed', async () => (await events(appId))[0]?.attempt === 2);
  failing.delete(path);
  await sql(service)`update webhooks.events set due_at = clock_timestamp() + interval '1 hour'
    where due_at = 'infinity'`;
  for (let times = 0; times < 26; times += 1) await topUp(appId, 'berta', 10);
  await whenQuiet();
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/webhooks`;
  const count = ({ text }: { text: string }) => text.split(`/console/${appId}/delivery?id=`).length - 1;
  const first = await browser.open(page);
  assertPage(first, 200, 'Webhooks', IN_CONSOLE);
  assert.equal(count(first), 25);
  const [, older = ''] = /href="([^"]+)">Older events/.exec(first.text) ?? [];
  assert.equal(count(await browser.open(older.replaceAll(/&(amp|#38);/g, '&'))), 2);
  const waiting = await browser.open(`${page}?state=pending&before=`);
  assertPage(waiting, 400, 'Webhooks', IN_CONSOLE);
  const pending = await browser.open(`${page}?state=pending`);
  assert.equal(count(pending), 1);
  const [, id = ''] = /delivery\?id=(evt_\w+)/.exec(pending.text) ?? [];
  const one = await browser.open(`/console/${appId}/delivery?id=${id}`);
  assertPage(one, 200, 'One event', IN_CONSOLE);
  assert.match(one.text, /Status 500 after/);
  assert.match(one.text, /curl [^<]+\/balance/);
  assert.ok(one.text.includes(String.raw`x-service-user: it&#39;\&#39;&#39;s anna`), one.text);
  for (const strange of ['', 'x', `evt_${'0'.repeat(32)}`]) {
    assertPage(await browser.open(`/console/${appId}/delivery?id=${strange}`), 404, 'No such event', IN_CONSOLE);
  }
});

test('AU-06 the page makes, shows once and revokes purser listen tokens', async () => {
  const { appId } = await newApp();
  const browser = await signedInBrowser(service, owner.email);
  const page = `/console/${appId}/webhooks`;
  const command = `npm run purser -- listen --app ${appId} --url https://purser.test --forward http://localhost:3000/hook`;
  assert.ok((await browser.open(page)).text.includes(command));
  const made = await browser.submit(page, { act: 'token' }, 'Make a listen token');
  assertPage(made, 200, 'Webhooks', IN_CONSOLE);
  const [, token = ''] = /PURSER_LISTEN_TOKEN=(svc_listen_[0-9A-Za-z]{43}) /.exec(made.text) ?? [];
  const again = await browser.open(page);
  assert.deepEqual(
    [token === '', again.text.includes(token), again.text.includes('Current listen tokens')],
    [false, false, true],
  );
  const use = () =>
    send(hook(appId, '/listeners'), {
      url: service.url,
      method: 'POST',
      key: token,
      body: { events: ['topup.completed'] },
    });
  assert.equal((await use()).status, 201);
  assert.equal((await send(hook(appId), { url: service.url, key: token })).status, 401, 'it opens nothing else');
  await owner.get(201, 'PUT', hook(appId), { endpointUrl: `${receiver.url}/listen`, events: ['topup.completed'] });
  assert.ok((await browser.open(page)).text.includes(command));
  const revoked = await browser.submit(page, { act: 'revoke' }, 'Revoke');
  assert.match(revoked.text, /The listen token was revoked/);
  assert.equal((await use()).status, 401);
});
