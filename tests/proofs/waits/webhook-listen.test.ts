import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { AppId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { createWallets } from '../../../packages/service/src/ledger/wallet/wallet.ts';
import { createLoopbackGuard } from '../../../packages/service/src/webhooks/delivery/loopback-guard.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { newOwner } from '../../support/control.ts';
import { createTestDatabase } from '../../support/database.ts';
import { afterwards, makeOpenDirectory } from '../../support/embedded-harness.ts';
import { keepEmailKey, TEST_SECRET } from '../../support/keys.ts';
import { runToEnd, startListenProcess, startServiceProcess } from '../../support/service-process.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createVerifier, startReceiver } from '../../support/webhook-receiver.ts';

const END_MS_MAX = 30_000;
const NOWHERE = 'http://127.0.0.1:9/hook';

/** A service in a separate process, an owner's app, payments, and a receiver that answers 500 to odd balances. */
async function arrange(t: TestContext) {
  const database = await createTestDatabase();
  afterwards(t, database.close);
  const receiver = await startReceiver((_path, _times, { body }) =>
    /"balanceMicros":\d*[13579],/.test(String(body)) ? 500 : 200,
  );
  afterwards(t, receiver.close);
  await keepEmailKey(database.owner, Buffer.from(TEST_SECRET));
  const dataDirectory = makeOpenDirectory(t);
  const start = async (port: string) => {
    const catalogue = catalogueAt('http://127.0.0.1:9');
    const service = await startServiceProcess({
      dataDirectory,
      catalogue,
      databaseUrl: database.url,
      environment: { PORT: port, PURSER_SECRET: TEST_SECRET },
    });
    afterwards(t, service.stop);
    return service;
  };
  const service = await start('0');
  const owner = await newOwner({ url: service.url, database });
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
  const wallet = { appId: appId as AppId, userId: 'anna' as EndUserId };
  const db = database.owner;
  await createWallets(db).open({ ...wallet, currency: 'EUR', cap: undefined });
  let payments = 0;
  const topUp = async (amount: number): Promise<void> => {
    const key = `payment-${(payments += 1)}`;
    await createFunding(db).credit({ ...wallet, kind: 'top_up', amount: micros(BigInt(amount)), key });
  };
  const restart = () => start(new URL(service.url).port);
  return { database, db, receiver, service, restart, owner, appId: String(appId), topUp };
}

test('WH-15 WH-09 WH-10 purser listen forwards each event once', async (t) => {
  const { db, receiver, service, restart, owner, appId, topUp } = await arrange(t);
  const dataDirectory = makeOpenDirectory(t);
  const made = await owner.get(201, 'POST', `/apps/${appId}/webhook/listen-tokens`);
  const token = String(made['listenToken']);
  const forward = `${receiver.url.replace('127.0.0.1', 'localhost')}/hook`;
  const words = ['--app', appId, '--forward', forward];
  const environment = { PURSER_LISTEN_TOKEN: token, PURSER_URL: service.url };
  const listening = await startListenProcess({ dataDirectory, catalogue: {}, environment }, ...words);
  afterwards(t, listening.kill);
  const verify = createVerifier(listening.secret);
  const arrived = (count: number) => waitUntil(`${count} arrived`, () => receiver.received.length >= count);
  await topUp(10);
  await topUp(1); // Its answer is 500.
  await arrived(2);
  await service.kill();
  await topUp(1); // As another service process could while this one is down.
  await waitUntil('the listener noticed', () => listening.said().includes('Trying again'));
  await restart();
  await topUp(2);
  await arrived(4);

  const bodies = receiver.received.map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>);
  const balances = bodies.map(({ data }) => (data as Record<string, unknown>)['balanceMicros']);
  assert.deepEqual(balances, [10, 11, 12, 14], 'each arrives once, including the one that failed');
  for (const [index, one] of receiver.received.entries()) {
    assert.equal(verify(one, one.atMs), 'accepted');
    const { headers } = one;
    assert.equal(headers['x-service-event-id'], bodies[index]?.['id']);
    assert.equal(headers['x-service-event-type'], 'topup.completed');
    assert.equal(headers['x-service-delivery-attempt'], '1');
    assert.equal(headers['user-agent'], 'service-webhooks/1');
    assert.equal(headers['content-type'], 'application/json');
    const status = index === 1 ? 500 : 200;
    await waitUntil('the listener said so', () =>
      listening.said().includes(`${String(bodies[index]?.['id'])} topup.completed ${status}\n`),
    );
  }
  assert.equal(listening.said().split(listening.secret).length, 2, 'the secret is printed once');
  assert.equal(listening.said().includes(token), false);
  assert.deepEqual(readdirSync(dataDirectory), ['catalogue.json'], 'the listener writes nothing to the data directory');
  const { rows: stored } = await db.query('select from webhooks.events');
  assert.deepEqual(stored, [], 'no delivery is stored');

  // A test event, of a type that this command did not ask for, without any endpoint.
  const { eventId, body, attempt, listeners } = await owner.get(200, 'POST', `/apps/${appId}/webhook/test`, {
    type: 'balance.low',
  });
  assert.deepEqual([attempt, listeners], [null, 1]);
  await arrived(5);
  const [, , , , tested] = receiver.received;
  assert.deepEqual([tested?.headers['x-service-event-id'], String(tested?.body)], [eventId, body]);
  assert.match(String(eventId), /^evt_test_/);
  assert.equal(tested && verify(tested, tested.atMs), 'accepted');
  assert.deepEqual((await db.query('select from webhooks.events')).rows, [], 'a test event is not stored');

  await listening.stop();
  const { rows } = await db.query('select from webhooks.subscriptions');
  assert.deepEqual(rows, [], 'the listener deregistered');
});

test('WH-15 a forgotten listener registers again', async (t) => {
  const { db, receiver, service, owner, appId, topUp } = await arrange(t);
  const words = ['--app', appId, '--forward', receiver.url, '--url', service.url, '--events', 'topup.completed'];
  const { listenToken } = await owner.get(201, 'POST', `/apps/${appId}/webhook/listen-tokens`);
  const input = `${String(listenToken)}\n`;
  const listening = await startListenProcess({ dataDirectory: makeOpenDirectory(t), catalogue: {}, input }, ...words);
  afterwards(t, listening.kill);
  await sql(db)`update webhooks.subscriptions set listening_until = clock_timestamp()`; // As after a long silence.
  await topUp(10); // Ends the running request.
  await waitUntil('it registers again', () => listening.said().includes('registered again'), 30_000);
  await topUp(20);
  await waitUntil('the event arrived', () => receiver.received.some(({ body }) => body.includes('"balanceMicros":30')));
  await owner.get(204, 'DELETE', '/sessions/current');
  await topUp(30);
  await waitUntil('it ended with its session', () => listening.said().includes('Make a new one'), 30_000);
});

/** A server that is not Purser, and what it has heard. */
async function startOther(t: TestContext) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.end(JSON.stringify({ status: 'ok' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  return { heard, url: `http://127.0.0.1:${port}` };
}

test('WH-15 purser listen refuses what it cannot do and says why', async (t) => {
  const { service, database, owner, appId } = await arrange(t);
  const stranger = await newOwner({ url: service.url, database });
  const token = owner.token ?? '';
  const other = await startOther(t);
  const own = ['--app', appId, '--forward', NOWHERE];
  const fine = [...own, '--url', service.url];
  for (const [words, sessionToken, said] of [
    [fine, '', 'Provide a listen token'],
    [fine, 'x', 'The token is not valid'],
    [fine, stranger.token ?? '', 'You have no app with this id'],
    [[...fine, '--session-token', token], token, '--session-token'],
    [[...fine, '--forward', 'https://example.com/hook'], token, '--forward must be on this machine'],
    [[...fine, '--url', 'http://example.com'], token, '--url (or PURSER_URL) must be https'],
    [[...fine, '--events', 'balance.low'], token, '--threshold: is required'],
    [[...fine, '--events', 'x'], token, '--events: '],
    [[...fine, '--url', 'http://127.0.0.1:9'], token, 'The service does not answer'],
    [['--app', appId], token, "Required option '--forward <address>' not specified"],
    [own, token, `The server at ${other.url} is not Purser, so the token was not sent. Name the service in --url`],
  ] as const) {
    const dataDirectory = makeOpenDirectory(t);
    const environment = { PURSER_SESSION_TOKEN: sessionToken, PURSER_URL: other.url };
    const ended = await runToEnd(
      { dataDirectory, catalogue: {}, environment, endMsMax: END_MS_MAX },
      'listen',
      ...words,
    );
    assert.equal(ended.status, /^(--|Required)/.test(said) ? 2 : 1, ended.said); // Wrong words end with 2.
    assert.ok(ended.said.includes(said), `${said}: ${ended.said}`);
    assert.equal(ended.said.includes('whsec_'), false);
  }
  assert.deepEqual([other.heard.length, other.heard.some((one) => one.includes(token))], [1, false]);
});

test('WH-15 copies stay on this machine', async () => {
  const guard = createLoopbackGuard();
  for (const here of ['http://localhost:3000/hook', 'https://app.localhost', 'http://127.1:80', 'http://[::1]:3000']) {
    assert.equal(await guard.refuse(here), undefined, here);
    guard.checkLiteral(new URL(here));
  }
  for (const elsewhere of [
    'http://example.com/hook',
    'http://10.0.0.1',
    'http://0.0.0.0:3000',
    'http://[::ffff:10.0.0.1]',
    'http://[::]',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://notlocalhost',
  ]) {
    assert.notEqual(await guard.refuse(elsewhere), undefined, elsewhere);
    assert.throws(() => guard.checkLiteral(new URL(elsewhere)), elsewhere);
  }
  for (const text of ['nowhere', 'file:///etc/passwd', 'http://me:secret@localhost/']) {
    assert.notEqual(await guard.refuse(text), undefined, text);
  }
  assert.deepEqual(
    ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '128.0.0.1', '::', '::ffff:10.0.0.1'].map(guard.mayDial),
    [true, true, true, true, false, false, false],
  );
});
