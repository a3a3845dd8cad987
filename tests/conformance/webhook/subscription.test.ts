import { mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMember, newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { createVerifier } from '../../support/webhook-receiver.ts';
import { setWebhookStage } from '../../support/webhook-stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const failing = new Set<string>();
const stalling = new Set<string>();
const { receiver, subscribe, newApp, owner, service, topUp, whenQuiet, endWaits, events } = await setWebhookStage(
  (path) => {
    if (stalling.has(path)) return 'stall';
    return failing.has(path) ? 500 : 200;
  },
);
const hook = (appId: string, more = '') => `/apps/${appId}/webhook${more}`;
const TOP_UPS = ['topup.completed'];
const DISABLING = 5;

test('WH-01 a subscription’s secret is shown once', async () => {
  const { appId } = await newApp();
  const wanted = { endpointUrl: `${receiver.url}/one`, events: ['balance.low'], lowBalanceThresholdMicros: 500 };
  const made = await owner.get(201, 'PUT', hook(appId), wanted);
  const { signingSecret, secretFingerprint, ...shown } = made;
  assert.match(String(signingSecret), /^whsec_[0-9A-Za-z]{43}$/);
  assert.deepEqual(shown, { appId, ...wanted, status: 'active', disabledReason: null, droppedInRow: 0 });
  assert.equal(String(signingSecret).includes(String(secretFingerprint)), false);
  assert.deepEqual(await owner.get(200, 'GET', hook(appId)), { ...shown, secretFingerprint });
  const other = { endpointUrl: `${receiver.url}/two`, events: TOP_UPS };
  const replaced = await owner.get(200, 'PUT', hook(appId), other);
  assert.deepEqual(replaced, { ...shown, ...other, lowBalanceThresholdMicros: null, secretFingerprint });
  await owner.get(204, 'DELETE', hook(appId));
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/secret'],
  ] as const) {
    assertRefusal(await owner.ask(method, hook(appId, path)), { code: 'NOT_FOUND' });
  }
});

test('WH-01 PUT accepts the answer of GET', async () => {
  for (const fields of [{ events: TOP_UPS }, { events: ['balance.low'], lowBalanceThresholdMicros: 500 }]) {
    const { appId, secret } = await subscribe(fields);
    const read = await owner.get(200, 'GET', hook(appId));
    assert.deepEqual(await owner.get(200, 'PUT', hook(appId), read), read);
    const other = { appId: 'app_x', status: 'disabled', disabledReason: 'x', droppedInRow: 4, signingSecret: secret };
    const changed = { ...read, ...other, secretFingerprint: 'x', endpointUrl: `${receiver.url}/changed` };
    assert.deepEqual(await owner.get(200, 'PUT', hook(appId), changed), { ...read, endpointUrl: changed.endpointUrl });
    assertRefusal(await owner.ask('PUT', hook(appId), { ...read, unknown: 1 }), { code: 'BAD_REQUEST' });
  }
});

test('WH-01 the secret is neither stored nor shown again', async () => {
  const { appId, secret } = await subscribe();
  const rows = await sql<{ text: string }>(service)`
    select row_to_json(s)::text || encode(sealed_secret, 'escape') as text from webhooks.subscriptions s where app_id = ${appId}`;
  assert.equal(rows.length, 1);
  assert.equal(rows[0]?.text.includes(secret.slice('whsec_'.length)), false);
});

test('WH-01 a new secret signs later deliveries at once', async () => {
  const { appId, path, secret } = await subscribe();
  stalling.add(path);
  for (let times = 0; times < 5; times += 1) await topUp(appId, 'anna', 10);
  await waitUntil('all attempts are under way', () => receiver.at(path).length === 5);
  stalling.delete(path); // Attempts still in progress get no answer.
  const { signingSecret, secretFingerprint } = await owner.get(200, 'POST', hook(appId, '/secret'));
  const before = receiver.at(path).length;
  assert.notEqual(signingSecret, secret);
  assert.deepEqual((await owner.get(200, 'GET', hook(appId)))['secretFingerprint'], secretFingerprint);
  await topUp(appId, 'anna', 10);
  await whenQuiet();
  const [old, now] = [createVerifier(secret), createVerifier(String(signingSecret))];
  const verdicts = receiver.at(path).map((one) => [old(one, one.atMs), now(one, one.atMs)]);
  for (const [byOld] of verdicts.slice(before)) assert.equal(byOld, 'bad signature');
  assert.equal(
    verdicts.filter(([, byNow]) => byNow === 'accepted').length,
    6,
    'all of them come again, and the new event',
  );
  for (const { headers } of receiver.at(path)) {
    assert.equal(headers['x-service-delivery-attempt'], '1', 'an aborted attempt counts for nothing');
  }
});

test('WH-01 after DELETE nothing more is sent', async () => {
  const { appId, path } = await subscribe();
  stalling.add(path);
  for (let times = 0; times < 30; times += 1) await topUp(appId, 'anna', 10);
  await waitUntil('attempts are under way', () => receiver.at(path).length > 0);
  await owner.get(204, 'DELETE', hook(appId));
  const sent = receiver.at(path).length;
  for (const { state } of await events(appId)) assert.equal(state, 'dropped');
  stalling.delete(path);
  await owner.get(201, 'PUT', hook(appId), { endpointUrl: receiver.url + path, events: TOP_UPS });
  await topUp(appId, 'anna', 10);
  await whenQuiet();
  assert.equal(receiver.at(path).length, sent + 1, 'only the new event');
  const states = (await events(appId)).map(({ state }) => state);
  assert.equal(states.filter((state) => state === 'dropped').length, 30);
  assert.equal(states.at(-1), 'delivered');
});

test('WH-01 a worker does not use a replaced subscription', async () => {
  const { appId, path } = await subscribe();
  const db = service.database.owner;
  // As if it were replaced, and the request answered, before anybody can see the worker's own statement.
  await sql(db)`
    create function replace_meanwhile() returns trigger language plpgsql security definer as $$
    begin
      update webhooks.subscriptions set generation = nextval('webhooks.generations') where app_id = new.app_id;
      return new;
    end $$;
    create trigger replace_meanwhile after update on webhooks.events for each row
      when (new.state = 'sending' and old.state = 'pending') execute function replace_meanwhile();`;
  const generationOf = async () => {
    const generation = await sqlValue<bigint>(db)`select generation from webhooks.subscriptions
      where app_id = ${appId}`;
    return generation ?? 0n;
  };
  const first = await generationOf();
  await topUp(appId, 'anna', 10);
  await waitUntil('the event was taken a few times', async () => (await generationOf()) > first + 2n);
  assert.equal(receiver.at(path).length, 0);
  await sql(db)`drop trigger replace_meanwhile on webhooks.events`;
  await whenQuiet();
  assert.equal(receiver.at(path).length, 1);
});

test('WH-01 changes wait for running attempts', async () => {
  const { appId, path } = await subscribe();
  const other = { endpointUrl: `${receiver.url + path}-other`, events: TOP_UPS };
  for (const [status, method, more, body] of [
    [200, 'PUT', '', other],
    [200, 'POST', '/secret', undefined],
    [204, 'DELETE', '', undefined],
  ] as const) {
    await sql(service)`
      insert into webhooks.events (event_id, app_id, subscription_id, type, body, created_at, state, claim, claimed_generation, lease_until)
      select 'evt_' || md5(random()::text), app_id, subscription_id, 'topup.completed', '{}', now(), 'sending',
        gen_random_uuid(), generation, clock_timestamp() + interval '1 minute'
      from webhooks.subscriptions where app_id = ${appId}`;
    let isAnswered = false;
    const asking = owner.get(status, method, hook(appId, more), body).finally(() => (isAnswered = true));
    // Later requests are answered meanwhile, so this one would have been, too.
    for (let time = 0; time < 10; time += 1) await owner.get(200, 'GET', '/apps');
    assert.equal(isAnswered, false, `${method} ${more} was answered before the attempt had ended`);
    await sql(service)`delete from webhooks.events where app_id = ${appId}`;
    await asking;
  }
});

/** The subjects of the mails to somebody about this app, oldest first. */
async function mailsAbout(appId: string, recipient = owner.email): Promise<readonly string[]> {
  const mails = await mailsTo(service.database.owner, recipient);
  return mails.filter(({ body }) => body?.includes(appId) === true).map(({ subject }) => subject);
}

test('WH-12 five failures in a row disable the subscription', async () => {
  const { appId, path } = await subscribe();
  const [second, developer] = [await newMember(service, appId, 'owner'), await newMember(service, appId, 'developer')];
  const dropped = 'An event could not be delivered to your app';
  const disabled = 'Your app receives no more events';
  async function exhaust(count: number): Promise<void> {
    failing.add(path);
    for (let times = 0; times < count; times += 1) await topUp(appId, 'anna', 10);
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await waitUntil('each event was sent', async () => {
        const open = (await events(appId)).filter(({ state }) => state === 'pending' || state === 'sending');
        return open.every((event) => event.state === 'pending' && event.attempt === attempt + 1);
      });
      await endWaits();
    }
    failing.delete(path);
  }
  const shown = async () =>
    owner
      .get(200, 'GET', hook(appId))
      .then(({ status, disabledReason, droppedInRow }) => [status, disabledReason, droppedInRow]);
  await exhaust(DISABLING - 1);
  assert.deepEqual(await mailsAbout(appId), [dropped], 'one mail for the run, at its first dropped event');
  assert.deepEqual(await shown(), ['active', null, DISABLING - 1]);
  assert.deepEqual(await mailsAbout(appId, second.email), [dropped]);
  await second.get(204, 'POST', `/apps/${appId}/leave`);
  await topUp(appId, 'anna', 10);
  await whenQuiet();
  assert.deepEqual(await shown(), ['active', null, 0]);
  await exhaust(DISABLING - 1);
  assert.deepEqual(await shown(), ['active', null, DISABLING - 1]);
  assert.deepEqual(await mailsAbout(appId), [dropped], 'at most one such mail an hour');
  await exhaust(1);
  assert.deepEqual(await shown(), ['disabled', 'delivery_failures', DISABLING]);
  assert.deepEqual(await mailsAbout(appId), [dropped, disabled]);
  assert.deepEqual([await mailsAbout(appId, second.email), await mailsAbout(appId, developer.email)], [[dropped], []]);
  const count = (await events(appId)).length;
  await topUp(appId, 'anna', 10);
  assert.equal((await events(appId)).length, count, 'nothing is stored for it');
  const enabled = await owner.get(200, 'PUT', hook(appId), { endpointUrl: receiver.url + path, events: TOP_UPS });
  assert.deepEqual([enabled['status'], enabled['disabledReason'], 'signingSecret' in enabled], ['active', null, false]);
  await exhaust(DISABLING - 1);
  assert.equal((await owner.get(200, 'GET', hook(appId)))['status'], 'active', 'the count was reset');
});

test('WH-03 an invalid subscription is refused by field name', async () => {
  const { appId } = await newApp();
  const endpointUrl = `${receiver.url}/x`;
  for (const [body, param] of [
    [{ endpointUrl, events: ['balance.low'] }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: TOP_UPS, lowBalanceThresholdMicros: 5 }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: ['balance.low'], lowBalanceThresholdMicros: 0 }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: ['balance.low'], lowBalanceThresholdMicros: 1.5 }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: ['balance.low'], lowBalanceThresholdMicros: '5' }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: ['balance.low'], lowBalanceThresholdMicros: 2 ** 53 }, 'lowBalanceThresholdMicros'],
    [{ endpointUrl, events: [] }, 'events'],
    [{ endpointUrl, events: ['topup.failed'] }, 'events[0]'],
    [{ endpointUrl, events: [...TOP_UPS, ...TOP_UPS] }, 'events'],
    [{ events: TOP_UPS }, 'endpointUrl'],
    [{ endpointUrl: 'nowhere', events: TOP_UPS }, 'endpointUrl'],
    [{ endpointUrl: 'http://me:secret@127.0.0.1/x', events: TOP_UPS }, 'endpointUrl'],
  ] as const) {
    const reply = await owner.ask('PUT', hook(appId), body);
    assertRefusal(reply, { code: 'BAD_REQUEST', param }, JSON.stringify(body));
  }
  assertRefusal(await owner.ask('GET', hook(appId)), { code: 'NOT_FOUND' });
});

test('AU-06 nobody else can use another account’s webhook', async () => {
  const { appId } = await subscribe();
  const stranger = await newOwner(service);
  for (const [method, more, body] of [
    ['PUT', '', { endpointUrl: `${receiver.url}/x`, events: TOP_UPS }],
    ['GET', '', undefined],
    ['DELETE', '', undefined],
    ['POST', '/secret', undefined],
    ['POST', '/test', { type: 'topup.completed' }],
    ['GET', '/deliveries', undefined],
  ] as const) {
    assertRefusal(await stranger.ask(method, hook(appId, more), body), { code: 'NOT_FOUND' });
  }
  assert.equal((await owner.get(200, 'GET', hook(appId)))['status'], 'active');
});

test('WH-14 the owner pages through events and attempts, newest first', async () => {
  const { appId, path } = await subscribe();
  failing.add(path);
  await topUp(appId, 'anna', 10);
  await waitUntil('the first attempt failed', async () => (await events(appId))[0]?.attempt === 2);
  failing.delete(path);
  await endWaits();
  for (let times = 0; times < 4; times += 1) await topUp(appId, 'anna', 10);
  await whenQuiet();
  const seen: { eventId: string; body: string; attempts: Record<string, unknown>[] }[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const query = `?limit=2${next === '' ? '' : `&before=${next}`}`;
    const page = await owner.get(200, 'GET', hook(appId, `/deliveries${query}`));
    seen.push(...(page['deliveries'] as typeof seen));
    next = page['next'] as string | null;
  }
  const stored = (await events(appId)).map(({ event_id: id }) => id);
  assert.deepEqual(
    seen.map(({ eventId }) => eventId),
    stored.toReversed(),
  );
  const first = seen.at(-1);
  const fields = ['attempts', 'body', 'createdAt', 'eventId', 'nextAttemptAt', 'state', 'type'];
  assert.deepEqual(Object.keys(first ?? {}).toSorted(), fields);
  assert.equal(first?.body, receiver.at(path)[0]?.body.toString('utf8'));
  assert.deepEqual(
    first?.attempts.map(({ attempt, status, error }) => [attempt, status, error]),
    [
      [1, 500, null],
      [2, 200, null],
    ],
  );
  for (const bad of ['before=x', 'limit=0', 'limit=501', 'limit=x', 'other=1', 'state=sending']) {
    assertRefusal(await owner.ask('GET', hook(appId, `/deliveries?${bad}`)), { code: 'BAD_REQUEST' }, bad);
  }
  await sql(service)`update webhooks.events set state = 'dropped' where app_id = ${appId}
    and event_id = any (${stored.slice(0, 2)})`;
  const dropped: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const query: string = `?state=dropped&limit=1${next === '' ? '' : `&before=${next}`}`;
    const page = await owner.get(200, 'GET', hook(appId, `/deliveries${query}`));
    dropped.push(...(page['deliveries'] as typeof seen).map(({ eventId }) => eventId));
    next = page['next'] as string | null;
  }
  assert.deepEqual(dropped, stored.slice(0, 2).toReversed());
});
