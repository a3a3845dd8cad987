import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, type Reply, send } from '../../support/client.ts';
import { newOperator, newOwner, personWith } from '../../support/control.ts';
import { assertRefusal, assertRefused } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { idOf, trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service, upstream } = stage;
const second = await startSecondGateway(service);
const operator = await newOperator(service);
const elsewhere = personWith(second.url, operator.token);
const owner = await newOwner(service);
const actor = await idOf(operator);
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: { prompt_tokens: 1 } }) });

type OwnApp = Awaited<ReturnType<typeof newApp>>;

async function newApp(name = 'App') {
  const { appId } = await owner.get(201, 'POST', '/apps', { name });
  const { apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'sandbox' });
  return { appId: String(appId), apiKey: String(apiKey), path: `/operator/apps/${String(appId)}` };
}

function models(url: string, { apiKey }: OwnApp): Promise<Reply> {
  return send('/v1/models', { url, key: apiKey });
}

async function untilStatus(url: string, app: OwnApp, status: number): Promise<void> {
  await waitUntil(`${url} answers ${status}`, async () => (await models(url, app)).status === status);
}

async function search(query: string): Promise<readonly Record<string, unknown>[]> {
  const { apps } = await operator.get(200, 'GET', `/operator/apps?query=${encodeURIComponent(query)}`);
  return apps as Record<string, unknown>[];
}

test('CP-05 apps are found by id, name and owner', async () => {
  const { appId } = await newApp('Sörvice 100%_x');
  for (const query of [appId, 'sörvice', '100%_X', owner.email.toUpperCase()]) {
    const found = (await search(query)).find((app) => app['appId'] === appId);
    const { createdAt, ...rest } = found ?? {};
    assert.ok(Date.parse(String(createdAt)) > 0, query);
    assert.deepEqual(rest, {
      appId,
      name: 'Sörvice 100%_x',
      ownerEmails: [owner.email],
      redirectUris: [],
      returnUri: null,
      status: 'active',
      firstParty: false,
      rateLimit: { perMinute: 600, burst: 100 },
      maxStreamsPerUser: 4,
    });
  }
  assert.deepEqual(await search('100%%'), []);
  assert.ok((await search('')).length >= 1);
  assertRefused(await operator.ask('GET', '/operator/apps?name=x'), 'BAD_REQUEST', 'name');
});

test('AU-09 CP-05 a suspension and its end hold everywhere within a second', async () => {
  const app = await newApp();
  for (const url of [service.url, second.url]) assert.equal((await models(url, app)).status, 200);
  const suspended = await operator.get(200, 'POST', `${app.path}/suspend`, { reason: 'abuse' });
  assert.equal(suspended['status'], 'suspended');
  assertRefusal(await models(service.url, app), { code: 'APP_SUSPENDED' });
  await untilStatus(second.url, app, 403);
  await operator.get(200, 'POST', `${app.path}/suspend`, { reason: 'abuse again' });

  const resumed = await elsewhere.get(200, 'POST', `${app.path}/resume`, { reason: 'settled' });
  assert.equal(resumed['status'], 'active');
  assert.equal((await models(second.url, app)).status, 200);
  await untilStatus(service.url, app, 200);
  const subject = app.appId;
  assert.deepEqual(await trailOf(operator, subject), [
    { actor, action: 'app.resume', subject, reason: 'settled' },
    { actor, action: 'app.suspend', subject, reason: 'abuse again' },
    { actor, action: 'app.suspend', subject, reason: 'abuse' },
  ]);
});

test('MO-04 CP-05 reserved-model grants and withdrawals hold everywhere within a second', async () => {
  const app = await newApp();
  const ask = (url: string) => send('/v1/models/secret', { url, key: app.apiKey });
  for (const url of [service.url, second.url]) assertRefusal(await ask(url), { code: 'MODEL_NOT_ENTITLED' });
  const changed = await operator.get(200, 'PATCH', app.path, { firstParty: true, reason: 'ours' });
  assert.equal(changed['firstParty'], true);
  assert.equal((await ask(service.url)).status, 200);
  await waitUntil('the grant is known', async () => (await ask(second.url)).status === 200);
  assert.equal((await operator.get(200, 'PATCH', app.path, { firstParty: false }))['firstParty'], false);
  assertRefusal(await ask(service.url), { code: 'MODEL_NOT_ENTITLED' });
});

test('LI-01 LI-02 CP-05 limits are set independently and apply at once', async () => {
  const app = await newApp();
  const limited = await operator.get(200, 'PATCH', app.path, { rateLimit: { perMinute: 1, burst: 3 } });
  assert.deepEqual([limited['rateLimit'], limited['maxStreamsPerUser']], [{ perMinute: 1, burst: 3 }, 4]);
  const statuses = [];
  for (let call = 0; call < 4; call += 1) statuses.push((await models(service.url, app)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  const wider = await operator.get(200, 'PATCH', app.path, { maxStreamsPerUser: 9, reason: 'many tabs' });
  assert.deepEqual([wider['rateLimit'], wider['maxStreamsPerUser']], [{ perMinute: 1, burst: 3 }, 9]);
  const slower = await operator.get(200, 'PATCH', app.path, { rateLimit: { perMinute: 2, burst: 3 } });
  assert.deepEqual(slower, { ...wider, rateLimit: { perMinute: 2, burst: 3 } });
  const ours = await operator.get(200, 'PATCH', app.path, { firstParty: true });
  assert.deepEqual(ours, { ...slower, firstParty: true });
  assert.deepEqual(await operator.get(200, 'PATCH', app.path, {}), ours);
  assert.deepEqual((await search(app.appId))[0], ours);
});

test('LI-02 CP-05 a lowered stream limit refuses the next stream', async () => {
  const app = await newApp();
  await operator.get(200, 'PATCH', app.path, { maxStreamsPerUser: 1 });
  await chat({ url: service.url, key: app.apiKey, user: 'u' });
  await service.database.owner.query(
    `with held as (
       insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
       select gen_random_uuid(), wallet_id, 100, db.current_month(), true, (select max(instance_id) from db.instances)
       from sandbox.wallets where app_id = $1
     )
     update sandbox.wallets set held_micros = 100, open_streams = 1 where app_id = $1`,
    [app.appId],
  );
  const stream = () => chat({ url: service.url, key: app.apiKey, user: 'u' }, { stream: true });
  assertRefusal(await stream(), { code: 'CONCURRENT_STREAM_LIMIT' });
  await operator.get(200, 'PATCH', app.path, { maxStreamsPerUser: 2 });
  assert.equal((await stream()).status, 200);
});

const untouched = await newApp();
const NONE = '/operator/apps/app_none';

for (const act of ['suspend', 'resume']) {
  const request = `POST ${untouched.path}/${act}`;
  scenarios(
    { as: operator, name: 'CP-05 a suspension needs a reason', request, code: 'BAD_REQUEST', param: 'reason' },
    [
      { body: {} },
      { body: { reason: '' } },
      { body: { reason: '  ' } },
      { body: { reason: 7 } },
      { request: `POST ${NONE}/${act}`, body: { reason: 'x' }, code: 'NOT_FOUND', param: null },
    ],
  );
}

scenarios({ as: operator, name: 'CP-05 odd limits', request: `PATCH ${untouched.path}`, code: 'BAD_REQUEST' }, [
  { body: { firstParty: 'yes' }, param: 'firstParty' },
  { body: { rateLimit: 5 }, param: 'rateLimit' },
  { body: { rateLimit: { perMinute: 1 } }, param: 'rateLimit.burst' },
  { body: { rateLimit: { perMinute: 0, burst: 1 } }, param: 'rateLimit.perMinute' },
  { body: { rateLimit: { perMinute: 1, burst: 1_000_001 } }, param: 'rateLimit.burst' },
  { body: { maxStreamsPerUser: 1.5 }, param: 'maxStreamsPerUser' },
  { body: { maxStreamsPerUser: null }, param: 'maxStreamsPerUser' },
  { body: { reason: '' }, param: 'reason' },
  { body: { status: 'suspended' }, param: 'status' },
  { body: [], param: null },
  { request: `PATCH ${NONE}`, body: { firstParty: true }, code: 'NOT_FOUND', param: null },
]);

test('CP-05 a refused change of an app leaves nothing', async () => {
  assert.deepEqual(await trailOf(operator, untouched.appId), []);
  assert.deepEqual(await trailOf(operator, 'app_none'), []);
  assert.equal((await models(service.url, untouched)).status, 200);
});

test('CP-05 simultaneous changes to one app all succeed', async () => {
  const app = await newApp();
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? operator : elsewhere).ask('PATCH', app.path, { maxStreamsPerUser: index + 1 }),
    ),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  assert.equal((await trailOf(operator, app.appId)).length, 12);
});
