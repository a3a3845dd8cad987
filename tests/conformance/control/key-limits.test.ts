import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { chat, type CallOptions, type Reply, send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { callRoute, DATA_PLANE } from '../../support/every-route-refuses.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import type { TestApp } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** What an owner sets on an API key and changes later: name, expiry, models, addresses, rate, monthly budget; and rolling it. */

const environment = { PURSER_PROXY_HOPS: '1' }; // So that a test can come from any address.
const stage = await setStage({
  environment,
  catalogue: ({ models, aliases, ...rest }) => ({
    ...rest,
    models: [...models, { ...models[0], id: 'acme.small-1' }],
    aliases: { ...aliases, small: 'acme.small-1', big: 'acme.large-1' },
  }),
});
const { service, upstream } = stage;
const scenarios = scenariosOf(stage);
const owner = await newOwner(service);
const { url } = service;
const USAGE = { prompt_tokens: 40, completion_tokens: 20 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });

const appId = String((await owner.get(201, 'POST', '/apps', { name: 'App' }))['appId']);
const path = `/apps/${appId}/keys`;
for (const user of ['anna', 'bert']) await service.fund({ appId } as TestApp, user, 100_000_000);

interface Minted {
  readonly keyId: string;
  readonly apiKey: string;
}

const mint = async (options: object): Promise<Minted> =>
  (await owner.get(201, 'POST', path, { mode: 'live', ...options })) as unknown as Minted;
const limited = (limits: object, mode = 'live'): Promise<Minted> => mint({ mode, limits });
const change = (keyId: string, body: object) => owner.get(200, 'PATCH', `${path}/${keyId}`, body);
const call = (key: string, fields: Record<string, unknown> = {}, options: Partial<CallOptions> = {}): Promise<Reply> =>
  chat({ url, key, user: 'anna', ...options }, fields);
const said = (reply: Reply): string => String(reply.error['message']);

async function actsOn(keyId: string): Promise<readonly Record<string, unknown>[]> {
  const { entries } = await owner.get(200, 'GET', '/accounts/current/audit');
  return (entries as Record<string, unknown>[]).filter(({ subject }) => subject === keyId);
}

// Before the first test: a run of some tests alone ends with the last that it has found.
const { keyId: fixedKey } = await mint({});

test('CP-08 a key’s name, expiry and limits are shown, changed and audited', async () => {
  const expiresAt = '2031-01-01T00:00:00.000Z';
  const limits = {
    models: ['large', 'acme.small-1'],
    addresses: ['192.0.2.0/24', '2001:db8::7'],
    perMinute: 60,
    monthlyBudgetMicros: 5_000_000,
  };
  const made = await owner.get(201, 'POST', path, { mode: 'live', name: ' Batch ', expiresAt, limits });
  assert.deepEqual([made['name'], made['expiresAt'], made['limits']], ['Batch', expiresAt, limits]);
  const { keyId } = made as unknown as Minted;
  const shown = await owner.get(200, 'GET', `${path}/${keyId}`);
  assert.deepEqual([shown['name'], shown['expiresAt'], shown['limits']], ['Batch', expiresAt, limits]);
  assert.deepEqual(shown['budget'], { spentMicros: 0, heldMicros: 0 });
  assert.ok(!('apiKey' in shown));

  const changed = await change(keyId, { name: null, limits: { perMinute: 30, addresses: null } });
  assert.deepEqual([changed['name'], changed['expiresAt']], [null, expiresAt]);
  const { addresses: _, ...others } = limits;
  assert.deepEqual(changed['limits'], { ...others, perMinute: 30 });
  assert.deepEqual(await owner.get(200, 'GET', `${path}/${keyId}`), changed);
  await change(keyId, { limits: { perMinute: 30 } }); // Nothing new, so nothing is noted.
  const acts = await actsOn(keyId);
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['key.edit', 'key.create'],
  );
  assert.deepEqual(acts[0]?.['before'], { name: 'Batch', addresses: limits.addresses, perMinute: 60 });
  assert.deepEqual(acts[0]?.['after'], { name: null, addresses: null, perMinute: 30 });

  await owner.get(204, 'DELETE', `${path}/${keyId}`);
  assertRefusal(await owner.ask('PATCH', `${path}/${keyId}`, { name: 'x' }), { code: 'CONFLICT' });
  for (const method of ['GET', 'PATCH']) {
    assertRefusal(await owner.ask(method, `${path}/key_no`, method === 'GET' ? undefined : {}), { code: 'NOT_FOUND' });
    const stranger = await newOwner(service);
    const asked = stranger.ask(method, `${path}/${keyId}`, method === 'GET' ? undefined : {});
    assertRefusal(await asked, { code: 'NOT_FOUND' });
  }
});

const CHANGE = { as: owner, request: `PATCH ${path}/${fixedKey}`, code: 'BAD_REQUEST' } as const;

for (const to of [
  { ...CHANGE, request: `POST ${path}`, body: { mode: 'live' } },
  { ...CHANGE, body: {} },
]) {
  const table = { ...to, name: `CP-08 senseless key settings are refused by name, ${to.request.split(' ')[0]}` };
  scenarios(table, [
    { body: { name: 'x'.repeat(81) }, param: 'name' },
    { body: { name: ' ' }, param: 'name' },
    { body: { expiresAt: 'tomorrow' }, param: 'expiresAt' },
    { body: { expiresAt: '2020-01-01T00:00:00Z' }, param: 'expiresAt' },
    { body: { limits: { models: [] } }, param: 'limits.models' },
    { body: { limits: { models: ['large', 'no-such-model'] } }, param: 'limits.models' },
    { body: { limits: { addresses: ['192.0.2.0/33'] } }, param: 'limits.addresses[0]' },
    { body: { limits: { addresses: ['example.com'] } }, param: 'limits.addresses[0]' },
    { body: { limits: { perMinute: 0 } }, param: 'limits.perMinute' },
    { body: { limits: { monthlyBudgetMicros: 0 } }, param: 'limits.monthlyBudgetMicros' },
    { body: { limits: { monthlyBudgetMicros: 1.5 } }, param: 'limits.monthlyBudgetMicros' },
  ]);
}

scenarios(CHANGE, [
  {
    name: 'CP-08 a successor that is born dead is refused',
    request: `POST ${path}/${fixedKey}/roll`,
    body: { overlapSeconds: 0, expiresAt: '2020-01-01T00:00:00Z' },
    param: 'expiresAt',
  },
  { name: 'CP-08 the mode of a key cannot change', body: { mode: 'sandbox' } },
  { name: 'CP-08 the user of a key cannot change', body: { userId: 'anna' } },
  { name: 'CP-08 the window of a key that joins cannot change', body: { joinSeconds: 5 } },
]);

test('CP-08 AU-01 an expired key is refused until its expiry is extended', async () => {
  const { keyId, apiKey } = await mint({ expiresAt: '2031-01-01T00:00:00Z' });
  assert.equal((await call(apiKey)).status, 200);
  const expire = 'update accounts.api_keys set expires_at = clock_timestamp() where key_id = $1';
  await service.database.owner.query(expire, [keyId]);
  await change(keyId, { name: 'Late' }); // Now this process reads the key again.
  for (const route of DATA_PLANE) {
    assertRefusal(await callRoute(route, { url, key: apiKey, user: 'anna' }), { code: 'UNAUTHORIZED' }, route.name);
  }
  const { keys } = (await owner.get(200, 'GET', path)) as { keys: Record<string, unknown>[] };
  assert.ok(keys.some((key) => key['keyId'] === keyId && Date.parse(String(key['expiresAt'])) <= Date.now()));
  await change(keyId, { expiresAt: null });
  assert.equal((await call(apiKey)).status, 200);
});

test('CP-08 MO-01 a key calls and lists only its models', async () => {
  const { keyId, apiKey } = await limited({ models: ['small'] });
  assert.equal((await call(apiKey, { model: 'small' })).status, 200);
  assert.equal((await call(apiKey, { model: 'acme.small-1' })).status, 200);
  const before = upstream.requests.length;
  for (const model of ['large', 'big', 'acme.large-1']) {
    const refused = await call(apiKey, { model });
    assertRefusal(refused, { code: 'MODEL_NOT_ENTITLED', param: 'model', hasLink: false });
    assert.match(said(refused), new RegExp(`may not call the model \`${model}\`. It may call: \`small\``));
    assertRefusal(await send(`/v1/models/${model}`, { url, key: apiKey }), { code: 'MODEL_NOT_ENTITLED' });
  }
  assert.equal(upstream.requests.length, before);
  const listed = async () => {
    const { data } = (await send('/v1/models', { url, key: apiKey })).body as { data: { id: string }[] };
    return data.map(({ id }) => id).toSorted();
  };
  assert.deepEqual(await listed(), ['acme.small-1', 'small']);
  await change(keyId, { limits: { models: ['acme.large-1'] } });
  assert.deepEqual(await listed(), ['acme.large-1', 'big', 'large']);
  assert.equal((await call(apiKey, { model: 'big' })).status, 200);
  const test = await limited({ models: ['small'] }, 'sandbox');
  assertRefusal(await call(test.apiKey), { code: 'MODEL_NOT_ENTITLED' });
  assert.equal((await call(test.apiKey, { model: 'small' })).status, 200);
  assertRefusal(await call(test.apiKey, { model: 'sandbox/throttled' }), { code: 'UPSTREAM_THROTTLED' });
});

test('CP-08 a key works only from its addresses and networks', async () => {
  const { keyId, apiKey } = await limited({ addresses: ['192.0.2.0/24', '198.51.100.7', '2001:db8:1::/48'] });
  const from = (address: string) => send('/v1/models', { url, key: apiKey, headers: { 'x-forwarded-for': address } });
  for (const address of ['192.0.2.255', '198.51.100.7', '2001:db8:1:ffff::9', '::ffff:192.0.2.1']) {
    assert.equal((await from(address)).status, 200, address);
  }
  for (const address of ['192.0.3.0', '198.51.100.8', '2001:db8:2::1', '192.0.2.1, 203.0.113.5']) {
    const refused = await from(address);
    assertRefusal(refused, { code: 'FORBIDDEN', hasLink: false }, address);
    assert.ok(said(refused).includes(`from the address \`${address.split(', ').at(-1)}\``), said(refused));
  }
  for (const route of DATA_PLANE) {
    assertRefusal(await callRoute(route, { url, key: apiKey, user: 'anna' }), { code: 'FORBIDDEN' }, route.name);
  }
  await change(keyId, { limits: { addresses: ['127.0.0.1', '::1'] } });
  assert.equal((await call(apiKey)).status, 200);
});

test('CP-08 LI-01 a key’s own rate takes nothing from the app’s other keys', async () => {
  const slow = await limited({ perMinute: 3 });
  const other = await mint({});
  const answers = await Promise.all(Array.from({ length: 8 }, () => send('/v1/models', { url, key: slow.apiKey })));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(answers.length - refused.length, 3);
  for (const reply of refused) {
    assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
    assert.match(said(reply), /own limit of 3 calls a minute/);
    assert.ok(Number(reply.headers.get('retry-after')) <= 20);
    assert.equal(reply.headers.get('x-ratelimit-limit-requests'), '3');
  }
  const left = async () =>
    Number((await send('/v1/models', { url, key: other.apiKey })).headers.get('x-ratelimit-remaining-requests'));
  const before = await left();
  assert.equal((await send('/v1/models', { url, key: slow.apiKey })).status, 429);
  assert.ok((await left()) >= before - 1);
  await change(slow.keyId, { limits: { perMinute: null } });
  assert.equal((await send('/v1/models', { url, key: slow.apiKey })).status, 200);
});

for (const mode of ['live', 'sandbox'] as const) {
  test(`CP-08 a ${mode} key spends its monthly budget and no more`, async () => {
    const { keyId, apiKey } = await limited({ monthlyBudgetMicros: 1 }, mode);
    const refused = await call(apiKey);
    assertRefusal(refused, { code: 'KEY_BUDGET_EXCEEDED', hasLink: false });
    assert.match(said(refused), /begins anew on the first of the next month/);
    await change(keyId, { limits: { monthlyBudgetMicros: 10_000_000 } });
    const charged = async (user: string) => {
      const reply = await call(apiKey, {}, { user });
      assert.equal(reply.status, 200, reply.text);
      return Number(reply.headers.get('x-service-charge-micros'));
    };
    const spent = (await charged('anna')) + (await charged('bert'));
    if (mode === 'live') assert.equal(spent, 2 * CHARGE);
    const budget = async () => (await owner.get(200, 'GET', `${path}/${keyId}`))['budget'];
    assert.deepEqual(await budget(), { spentMicros: spent, heldMicros: 0 });
    await change(keyId, { limits: { monthlyBudgetMicros: spent + 1 } });
    assertRefusal(await call(apiKey), { code: 'KEY_BUDGET_EXCEEDED' });
    assertRefusal(await call(apiKey, {}, { user: 'nobody-yet' }), { code: 'KEY_BUDGET_EXCEEDED', hasLink: false });
    assert.deepEqual(await budget(), { spentMicros: spent, heldMicros: 0 });
    await change(keyId, { limits: { monthlyBudgetMicros: null } });
    assert.equal((await call(apiKey)).status, 200);
    assert.equal(await budget(), undefined);
  });
}

test('CP-08 a rolled key has one successor, and both share one budget', async () => {
  const limits = { models: ['large'], monthlyBudgetMicros: 10_000_000 };
  const { keyId, apiKey } = await mint({ name: 'Site', userId: 'anna', limits });
  assert.equal((await call(apiKey)).status, 200);
  const rolled = await owner.get(201, 'POST', `${path}/${keyId}/roll`, { overlapSeconds: 3_600 });
  const next = rolled as unknown as Minted;
  assert.deepEqual([rolled['name'], rolled['userId'], rolled['limits']], ['Site', 'anna', limits]);
  assert.equal(rolled['rolledFrom'], keyId);
  const leftMs = Date.parse(String(rolled['oldKeyEndsAt'])) - Date.now();
  assert.ok(leftMs > 3_500_000 && leftMs <= 3_601_000, String(leftMs));
  for (const key of [apiKey, next.apiKey]) assert.equal((await call(key)).status, 200);
  for (const id of [keyId, next.keyId]) {
    const shown = await owner.get(200, 'GET', `${path}/${id}`);
    assert.deepEqual(shown['budget'], { spentMicros: 3 * CHARGE, heldMicros: 0 });
    assert.deepEqual([shown['rolledFrom'], shown['rolledTo']], id === keyId ? [null, next.keyId] : [keyId, null]);
  }
  const again = await owner.ask('POST', `${path}/${keyId}/roll`, {});
  assertRefusal(again, { code: 'CONFLICT' });
  assert.ok(said(again).includes(next.keyId));
  assert.deepEqual(
    (await actsOn(keyId)).map(({ action, after }) => [action, (after as Record<string, unknown>)['successor']]),
    [
      ['key.roll', next.keyId],
      ['key.create', undefined],
    ],
  );

  const last = await owner.get(201, 'POST', `${path}/${next.keyId}/roll`, { overlapSeconds: 0 });
  await waitUntil('the old one has ended', async () => (await call(next.apiKey)).status === 401);
  assert.equal((await call(String(last['apiKey']))).status, 200);
  assert.equal((await call(apiKey)).status, 200, 'the first goes on for its own overlap');
  assertRefusal(await owner.ask('POST', `${path}/${next.keyId}/roll`, {}), { code: 'CONFLICT' });
  for (const overlapSeconds of [-1, 30 * 86_400 + 1, 1.5]) {
    const asked = owner.ask('POST', `${path}/${String(last['keyId'])}/roll`, { overlapSeconds });
    assertRefusal(await asked, { code: 'BAD_REQUEST', param: 'overlapSeconds' });
  }
  await owner.get(204, 'DELETE', `${path}/${String(last['keyId'])}`);
  assertRefusal(await owner.ask('POST', `${path}/${String(last['keyId'])}/roll`, {}), { code: 'CONFLICT' });
  for (const text of [`rolled_from = null`, `counts_as = 'x'`, 'revoked_at = null']) {
    const tampered = service.database.owner.query(`update accounts.api_keys set ${text} where key_id = $1`, [
      last['keyId'],
    ]);
    await assert.rejects(tampered, /only revoked/);
  }
});
