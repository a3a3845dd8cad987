import { sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { send } from '../../support/client.ts';
import { newMember, newOwner, type Person } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { setWebhookStage } from '../../support/webhook-stage.ts';

const { receiver, subscribe, newApp, owner, service, topUp, connect, whenQuiet, events } = await setWebhookStage();
const db = service.database.owner;
const listeners = (appId: string, more = '') => `/apps/${appId}/webhook/listeners${more}`;
const TOP_UPS = ['topup.completed'];
const LISTENERS_MAX = 5;
const AT_ONCE_MAX = 10;

interface Copy {
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
}

async function listen(appId: AppId, body: object = { events: TOP_UPS }): Promise<string> {
  const { listenerId } = await owner.get(201, 'POST', listeners(appId), body);
  return String(listenerId);
}

async function look(appId: AppId, listenerId: string, after?: string, waitSeconds = 0) {
  const query = `?waitSeconds=${waitSeconds}${after === undefined ? '' : `&after=${after}`}`;
  const answer = await owner.get(200, 'GET', listeners(appId, `/${listenerId}/events${query}`));
  return { copies: answer['events'] as readonly Copy[], next: (answer['next'] as string | null) ?? undefined };
}

const idsOf = (copies: readonly Copy[]) => copies.map(({ eventId }) => eventId);

test('WH-15 WH-08 a listener receives exactly what an endpoint is sent', async () => {
  const app = await subscribe({ events: [...TOP_UPS, 'connection.created'] });
  await topUp(app.appId, 'anna', 10);
  const listenerId = await listen(app.appId);
  await topUp(app.appId, 'anna', 20);
  await connect(app.appId, 'anna', true);
  await whenQuiet();
  const sent = receiver.at(app.path).map(({ headers, body }) => ({
    eventId: headers['x-service-event-id'],
    type: headers['x-service-event-type'],
    body: body.toString('utf8'),
  }));
  const told = sent.find(({ body }) => body.includes('"balanceMicros":30'));
  assert.deepEqual((await look(app.appId, listenerId)).copies, [told]);
});

test('WH-15 events reach every listener and wait to be confirmed', async () => {
  const { appId } = await newApp();
  const [one, other] = [await listen(appId), await listen(appId, { events: [...TOP_UPS, 'connection.created'] })];
  await topUp(appId, 'anna', 10);
  await connect(appId, 'anna', true);
  const first = await look(appId, one);
  assert.deepEqual(
    first.copies.map(({ type }) => type),
    TOP_UPS,
  );
  const again = await look(appId, one);
  assert.deepEqual(again.copies, first.copies, 'a lost answer is given again');
  await topUp(appId, 'anna', 10);
  const later = await look(appId, one, again.next);
  assert.equal(later.copies.length, 1);
  assert.equal(idsOf(first.copies).includes(later.copies[0]?.eventId ?? ''), false, 'confirmed events are gone');
  assert.deepEqual(await look(appId, one, later.next), { copies: [], next: undefined });
  assert.equal((await look(appId, other)).copies.length, 3);
  assertRefusal(await owner.ask('GET', `/apps/${appId}/webhook`), { code: 'NOT_FOUND' });
});

test('WH-15 many events come in parts, oldest first', async () => {
  const { appId } = await newApp();
  const listenerId = await listen(appId);
  const begunMs = Date.now();
  assert.deepEqual((await look(appId, listenerId, undefined, 1)).copies, []);
  assert.ok(Date.now() - begunMs > 900);
  const waiting = look(appId, listenerId, undefined, 20);
  await topUp(appId, 'anna', 1);
  const first = await waiting;
  assert.equal(first.copies.length, 1);
  for (let times = 0; times < AT_ONCE_MAX + 2; times += 1) await topUp(appId, 'anna', 1);
  const [some, rest] = [await look(appId, listenerId, first.next), await look(appId, listenerId)];
  assert.equal(some.copies.length, AT_ONCE_MAX);
  assert.deepEqual(rest.copies, some.copies);
  const last = await look(appId, listenerId, rest.next);
  assert.deepEqual(
    [...some.copies, ...last.copies].map(({ body }) => body.match(/"balanceMicros":(\d+)/)?.[1]),
    Array.from({ length: AT_ONCE_MAX + 2 }, (_, index) => String(index + 2)),
  );
});

test('WH-15 WH-05 each listener and the endpoint have their own threshold', async () => {
  const { appId, path } = await subscribe({ events: ['balance.low'], lowBalanceThresholdMicros: 500 });
  const [low, high] = [
    await listen(appId, { events: ['balance.low'], lowBalanceThresholdMicros: 100 }),
    await listen(appId, { events: ['balance.low'], lowBalanceThresholdMicros: 2_000 }),
  ];
  await topUp(appId, 'anna', 1_000);
  await sql(db)`update ledger.wallets set balance_micros = 400, version = version + 1 where app_id = ${appId}`;
  await whenQuiet();
  assert.equal(receiver.at(path).length, 1);
  assert.deepEqual((await look(appId, low)).copies, []);
  assert.deepEqual((await look(appId, high)).copies, [], 'it was already below');
  await sql(db)`update ledger.wallets set balance_micros = 50, version = version + 1 where app_id = ${appId}`;
  const { copies } = await look(appId, low);
  assert.equal(copies.length, 1);
  assert.deepEqual(JSON.parse(copies[0]?.body ?? '').data, {
    userId: 'anna',
    availableMicros: 50,
    thresholdMicros: 100,
    currency: 'EUR',
  });
  assert.equal((await events(appId)).length, 1, 'the endpoint learns of its own crossing only');
  assert.deepEqual((await look(appId, high)).copies, []);
});

test('WH-15 a listener works independently of deliveries and subscriptions', async () => {
  const { appId, path } = await subscribe();
  const listenerId = await listen(appId);
  await topUp(appId, 'anna', 10);
  await whenQuiet();
  const { deliveries } = await owner.get(200, 'GET', `/apps/${appId}/webhook/deliveries`);
  assert.equal((deliveries as unknown[]).length, 1, 'only the delivery to the endpoint');
  await owner.get(200, 'POST', `/apps/${appId}/webhook/secret`);
  await owner.get(200, 'PUT', `/apps/${appId}/webhook`, { endpointUrl: receiver.url + path, events: TOP_UPS });
  await owner.get(204, 'DELETE', `/apps/${appId}/webhook`);
  await topUp(appId, 'anna', 10);
  assert.equal((await look(appId, listenerId)).copies.length, 2);
  assert.equal((await events(appId)).length, 1, 'nothing is stored for an endpoint that is gone');
  await owner.get(204, 'DELETE', listeners(appId, `/${listenerId}`));
  await topUp(appId, 'anna', 10);
  assertRefusal(await owner.ask('GET', listeners(appId, `/${listenerId}/events?waitSeconds=0`)), { code: 'NOT_FOUND' });
});

test('WH-15 an app has at most five listeners', async () => {
  const { appId } = await newApp();
  const ids: string[] = [];
  for (let count = 0; count < LISTENERS_MAX; count += 1) ids.push(await listen(appId));
  assertRefusal(await owner.ask('POST', listeners(appId), { events: TOP_UPS }), { code: 'CONFLICT' });
  const [gone = '', stays = ''] = ids;
  await topUp(appId, 'anna', 10);
  await sql(db)`update webhooks.subscriptions set listening_until = clock_timestamp() where listener_id = ${gone}`;
  assertRefusal(await owner.ask('GET', listeners(appId, `/${gone}/events?waitSeconds=0`)), { code: 'NOT_FOUND' });
  await listen(appId);
  await sql(db)`update webhooks.copies c set created_at = created_at - interval '5 minutes'
    from webhooks.subscriptions s
    where s.subscription_id = c.subscription_id and s.listener_id = ${ids[2]}`;
  await waitUntil('upkeep has removed the listener', async () => {
    const { rows } = await db.query(`select from webhooks.subscriptions where listener_id = $1`, [gone]);
    return rows.length === 0;
  });
  assert.deepEqual((await look(appId, ids[2] ?? '')).copies, [], 'events older than five minutes are gone');
  assert.equal((await look(appId, stays)).copies.length, 1);
});

test('AU-06 nobody else can use an owner’s listeners', async () => {
  const [{ appId }, other] = [await newApp(), await newApp()];
  const listenerId = await listen(appId);
  const stranger = await newOwner(service);
  for (const [method, more, body] of [
    ['POST', '', { events: TOP_UPS }],
    ['GET', `/${listenerId}/events?waitSeconds=0`, undefined],
    ['DELETE', `/${listenerId}`, undefined],
  ] as const) {
    assertRefusal(await stranger.ask(method, listeners(appId, more), body), { code: 'NOT_FOUND' });
    if (more === '') continue;
    assertRefusal(await owner.ask(method, listeners(other.appId, more), body), { code: 'NOT_FOUND' });
  }
  assert.deepEqual((await look(appId, listenerId)).copies, []);
});

test('WH-15 an invalid listener is refused by field name', async () => {
  const { appId } = await newApp();
  for (const [body, param] of [
    [{ events: ['balance.low'] }, 'lowBalanceThresholdMicros'],
    [{ events: TOP_UPS, lowBalanceThresholdMicros: 5 }, 'lowBalanceThresholdMicros'],
    [{ events: [] }, 'events'],
    [{ events: ['x'] }, 'events[0]'],
    [{ events: TOP_UPS, endpointUrl: 'https://example.com' }, undefined],
  ] as const) {
    assertRefusal(await owner.ask('POST', listeners(appId), body), {
      code: 'BAD_REQUEST',
      ...(param === undefined ? {} : { param }),
    });
  }
  const listenerId = await listen(appId);
  for (const bad of ['after=x', 'waitSeconds=21', 'waitSeconds=-1', 'other=1']) {
    assertRefusal(await owner.ask('GET', listeners(appId, `/${listenerId}/events?${bad}`)), { code: 'BAD_REQUEST' });
  }
});

test('AU-06 a listen token reads one app until it ends', async () => {
  const [{ appId }, other] = [await newApp(), await newApp()];
  const developer = await newMember(service, appId, 'developer');
  const tokens = (more = '') => `/apps/${appId}/webhook/listen-tokens${more}`;
  const make = async (by: Person) => {
    const { listenToken, listenTokenId } = await by.get(201, 'POST', tokens());
    return { key: String(listenToken), id: String(listenTokenId) };
  };
  const use = (key: string, app = appId) =>
    send(listeners(app), { url: service.url, method: 'POST', key, body: { events: TOP_UPS } });
  const end = (id: string) => db.query('delete from webhooks.subscriptions where listener_id = $1', [id]);
  const works = async (key: string) => {
    const reply = await use(key);
    if (reply.status === 201) await end((JSON.parse(reply.text) as { listenerId: string }).listenerId);
    return reply.status;
  };
  const [first, expiring, theirs] = [await make(owner), await make(owner), await make(developer)];
  assert.match(first.key, /^svc_listen_[0-9A-Za-z]{43}$/);
  const { rows } = await db.query<{ row: string }>('select row_to_json(t)::text as row from accounts.listen_tokens t');
  assert.ok(
    rows.every(({ row }) => !row.includes(first.key.slice(20))),
    'the text of a token is not stored',
  );
  assert.equal(await works(first.key), 201);
  assertRefusal(await use(first.key, other.appId), { code: 'NOT_FOUND' });
  const shown = (await owner.get(200, 'GET', tokens()))['listenTokens'] as Record<string, unknown>[];
  assert.deepEqual(
    shown.map(({ listenTokenId, madeBy, lastUsedAt }) => [listenTokenId, madeBy, lastUsedAt !== null]),
    [
      [theirs.id, developer.email, false],
      [expiring.id, owner.email, false],
      [first.id, owner.email, true],
    ],
  );
  const hours = (Date.parse(String(shown[0]?.['expiresAt'])) - Date.parse(String(shown[0]?.['createdAt']))) / 3_600_000;
  assert.equal(Math.round(hours), 24);

  await sql(db)`update accounts.listen_tokens
    set created_at = created_at - interval '25 hours', expires_at = clock_timestamp()
    where token_id = ${expiring.id}`;
  assert.equal(await works(expiring.key), 401, 'expired');
  assertRefusal(await owner.ask('DELETE', `/apps/${other.appId}/webhook/listen-tokens/${first.id}`), {
    code: 'NOT_FOUND',
  });
  await owner.get(204, 'DELETE', tokens(`/${first.id}`));
  assert.equal(await works(first.key), 401, 'revoked');
  assert.equal(await works(theirs.key), 201);
  await sql(db)`update accounts.members set role = 'viewer' where account_id <> (select account_id
    from accounts.accounts where email = ${sealedEmail(owner.email)})`;
  assert.equal(await works(theirs.key), 403, 'its maker may not listen any more');
  await sql(db)`update accounts.members set role = 'developer' where role = 'viewer'`;
  assert.equal(await works(theirs.key), 201);
  await developer.get(204, 'DELETE', '/sessions/current');
  assert.equal(await works(theirs.key), 401, 'its session has ended');
});
