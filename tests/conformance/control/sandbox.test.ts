import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, httpSend } from '../../support/client.ts';
import { newOwner, personWith } from '../../support/control.ts';
import { openStream } from '../../support/open-stream.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { FRESH_USER, GRANT } from '../../support/sandbox-user.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service } = stage;
const owner = await newOwner(service);

const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
const { apiKey } = await owner.get(201, 'POST', `/apps/${String(appId)}/keys`, { mode: 'sandbox' });
const SANDBOX = `/apps/${String(appId)}/sandbox`;
const ask = (user: string) => chat({ url: service.url, key: String(apiKey), user });
const reset = (user: string, body: unknown) =>
  owner.ask('POST', `${SANDBOX}/users/${encodeURIComponent(user)}/reset`, body);

test('SB-04 the owner sees every test user’s wallet and usage', async () => {
  const charge = Number((await ask('anna')).headers.get('x-service-charge-micros'));
  const { users } = (await owner.get(200, 'GET', SANDBOX)) as { users: Record<string, unknown>[] };
  const anna = users.find(({ userId }) => userId === 'anna');
  assert.ok(charge > 0 && Number(anna?.['tokens']) > 0);
  const balances = { balanceMicros: GRANT - charge, availableMicros: GRANT - charge };
  assert.deepEqual(anna, { ...FRESH_USER, ...balances, userId: 'anna', requests: 1, tokens: anna?.['tokens'] });
});

test('SB-04 the list is read in pages', async () => {
  for (const user of ['p1', 'p2', 'p3']) await reset(user, {});
  const seen: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await owner.get(200, 'GET', `${SANDBOX}?limit=2&after=${encodeURIComponent(after)}`);
    const users = page['users'] as { userId: string }[];
    assert.ok(users.length <= 2);
    seen.push(...users.map(({ userId }) => userId));
    after = page['next'] as string | null;
  }
  for (const user of ['p1', 'p2', 'p3']) assert.equal(seen.filter((one) => one === user).length, 1);
});

test('SB-05 a reset sets named fields and defaults the others', async () => {
  assert.equal((await ask('bert')).status, 200); // So that its counters are not empty.
  const set = { balanceMicros: 7, spendCapMicros: 5, suspended: true };
  const { body } = await reset('bert', set);
  assert.deepEqual(body, {
    ...FRESH_USER,
    userId: 'bert',
    balanceMicros: 7,
    availableMicros: 7,
    spendCapMicros: 5,
    suspended: true,
  });
  assert.deepEqual((await reset('bert', {})).body, { ...FRESH_USER, userId: 'bert' });
});

test('SB-06 a reset can produce each refusal', async () => {
  for (const [body, code, hasLink] of [
    [{ balanceMicros: 0 }, 'PAYMENT_REQUIRED', true],
    [{ spendCapMicros: 1 }, 'APP_SPEND_CAP_EXCEEDED', true],
    [{ suspended: true }, 'WALLET_SUSPENDED', false],
  ] as const) {
    await reset('carl', body);
    assertRefusal(await ask('carl'), { code, hasLink });
  }
  await reset('carl', {});
  assert.equal((await ask('carl')).status, 200);
});

const REFUSED = { name: 'SB-05 odd amounts, fields and bodies are refused', code: 'BAD_REQUEST' } as const;

scenarios({ ...REFUSED, as: owner, request: `POST ${SANDBOX}/users/dora/reset`, hasLink: false }, [
  { body: { balanceMicros: -1 }, param: 'balanceMicros' },
  { body: { balanceMicros: 2 ** 53 }, param: 'balanceMicros' },
  { body: { balanceMicros: 1.5 }, param: 'balanceMicros' },
  { body: { balanceMicros: '1' }, param: 'balanceMicros' },
  { body: { spendCapMicros: -1 }, param: 'spendCapMicros' },
  { body: { suspended: 1 }, param: 'suspended' },
  { body: { balance: 1 }, param: 'balance' },
  { body: [], param: null },
  { request: `POST ${SANDBOX}/users/two%20words/reset`, body: {}, param: 'userId' },
]);

test('SB-05 a reset sets the largest balance of a user with any name', async () => {
  assert.equal((await reset('odd/user@x', { balanceMicros: 2 ** 53 - 1 })).body['balanceMicros'], 2 ** 53 - 1);
});

test('SB-05 a reset without a body restores the grant', async () => {
  const path = `${SANDBOX}/users/zero/reset`;
  const authorization = `Bearer ${owner.token ?? ''}`;
  const none = { name: 'no body', headers: {} };
  const empty = { name: 'an empty body', headers: {}, body: '' };
  const chunked = { name: 'an empty body in chunks', headers: {}, body: [] as readonly Buffer[] };
  const typed = [none, empty, chunked].flatMap((sent) =>
    ['application/json', 'application/json; charset=utf-8', 'application/x-www-form-urlencoded'].map((type) => ({
      ...sent,
      name: `${sent.name} of ${type}`,
      headers: { 'content-type': type },
    })),
  );
  for (const { name, headers, ...sent } of [none, empty, chunked, ...typed]) {
    await reset('zero', { balanceMicros: 0, suspended: true });
    const reply = await httpSend(service.url, {
      method: 'POST',
      path,
      headers: { ...headers, authorization },
      ...sent,
    });
    assert.equal(reply.status, 200, `${name}: ${reply.text}`);
    assert.deepEqual(reply.body, { ...FRESH_USER, userId: 'zero' }, name);
  }
});

test('SB-05 the document marks exactly the optional bodies', async () => {
  const { paths } = (await owner.get(200, 'GET', '/openapi.json')) as unknown as {
    paths: Record<string, Record<string, { requestBody?: { required: boolean } }>>;
  };
  const optional = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      requestBody?.required === false ? [`${method} ${path}`] : [],
    ),
  );
  assert.deepEqual(optional.toSorted(), [
    'patch /apps/{appId}',
    'patch /apps/{appId}/keys/{keyId}',
    'patch /operator/apps/{appId}',
    'post /apps/{appId}/keys/{keyId}/roll',
    'post /apps/{appId}/sandbox/users/{userId}/reset',
    'post /operator/providers/{name}/test',
  ]);
});

test('SB-05 a reset during a call drops its hold uncharged', async () => {
  await reset('emil', {});
  await sql(service)`insert into sandbox.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select gen_random_uuid(), wallet_id, 100, db.current_month(), true, (select max(instance_id) from db.instances)
    from sandbox.wallets where user_id = 'emil'`;
  await sql(service)`update sandbox.wallets set held_micros = 100, open_streams = 1 where user_id = 'emil'`;
  assert.deepEqual((await reset('emil', {})).body, { ...FRESH_USER, userId: 'emil' });
  const { rowCount } = await service.database.owner.query(
    `select from sandbox.holds h join sandbox.wallets w using (wallet_id) where w.user_id = 'emil'`,
  );
  assert.equal(rowCount, 0);
});

test('SB-04 running holds show as reserved, and other apps’ wallets stay hidden', async () => {
  const other = await owner.get(201, 'POST', '/apps', { name: 'Other' });
  await reset('fred', {});
  const stream = await openStream(
    { url: service.url, key: String(apiKey), user: 'fred' },
    { model: 'sandbox/long', max_tokens: 290 },
  );
  await stream.until('" 2"');
  const { users } = (await owner.get(200, 'GET', SANDBOX)) as { users: Record<string, unknown>[] };
  const fred = users.find(({ userId }) => userId === 'fred');
  const reserved = Number(fred?.['reservedMicros']);
  assert.ok(reserved > 0);
  assert.deepEqual(fred, {
    ...FRESH_USER,
    userId: 'fred',
    reservedMicros: reserved,
    availableMicros: GRANT - reserved,
  });
  assert.deepEqual(await owner.get(200, 'GET', `/apps/${String(other['appId'])}/sandbox`), { users: [], next: null });
  await reset('fred', {});
  stream.leave();
});

test('SB-05 a reset frees stream slots and cap spending', async () => {
  for (const [assignment, code] of [
    ['open_streams = 4', 'CONCURRENT_STREAM_LIMIT'],
    ['cap_month = db.current_month(), cap_spent_micros = cap_micros', 'APP_SPEND_CAP_EXCEEDED'],
    ['cap_month = db.current_month(), cap_held_micros = cap_micros', 'APP_SPEND_CAP_EXCEEDED'],
  ] as const) {
    await reset('greta', { spendCapMicros: GRANT });
    await service.database.owner.query(`update sandbox.wallets set ${assignment} where user_id = 'greta'`);
    const stream = () => chat({ url: service.url, key: String(apiKey), user: 'greta' }, { stream: true });
    // Money on hold comes back, so this refusal may be retried (WA-13).
    assertRefusal(await stream(), { code, isPassing: assignment.includes('cap_held_micros') }, assignment);
    await reset('greta', { spendCapMicros: GRANT });
    assert.equal((await stream()).status, 200, assignment);
  }
});

test('SB-07 a test key cannot refill itself', async () => {
  const key = personWith(service.url, String(apiKey));
  assertRefusal(await key.ask('POST', `${SANDBOX}/users/anna/reset`, {}), { code: 'UNAUTHORIZED', hasLink: false });
});

test('SB-07 CP-09 an owner’s acts on test users are in the trail', async () => {
  const user = 'trailed';
  await reset(user, { balanceMicros: 3 });
  await owner.ask('PUT', `${SANDBOX}/users/${user}/next`, { outcome: 'error' });
  const { entries } = (await owner.get(200, 'GET', `/accounts/current/audit?appId=${String(appId)}`)) as {
    entries: Record<string, unknown>[];
  };
  const ofUser = entries.filter(({ subject }) => subject === `${String(appId)} ${user}`).toReversed();
  const plain = { spendCapMicros: null, suspended: false, nextOutcome: null };
  assert.deepEqual(
    ofUser.map(({ actorName, action, before, after }) => [actorName !== null, action, before, after]),
    [
      [true, 'sandbox.reset', null, { ...plain, balanceMicros: 3 }],
      [true, 'sandbox.next', { nextOutcome: null }, { nextOutcome: 'error' }],
    ],
  );
});

test('SB-08 a wallet idle for 30 days is no longer listed', async () => {
  await reset('idle', {});
  await sql(service)`update sandbox.wallets set last_used_at = last_used_at - interval '31 days'
    where user_id = 'idle'`;
  const { text } = await owner.ask('GET', SANDBOX);
  assert.ok(!text.includes('"idle"'));
});

const next = (outcome: unknown) => owner.ask('PUT', `${SANDBOX}/users/once/next`, { outcome });

test('SB-02 SB-05 a test user’s set outcome is played by exactly one call', async () => {
  assert.deepEqual((await next('throttled')).body, { ...FRESH_USER, userId: 'once', nextOutcome: 'throttled' });
  await ask('other'); // Of another user: it takes nothing.
  const statuses = (await Promise.all(Array.from({ length: 12 }, () => ask('once')))).map(({ status }) => status);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [...Array.from({ length: 11 }, () => 200), 429],
  );

  await next('rejected'); // Rejections are remembered for 5 s (CC-15), but not one that is played once.
  assertRefusal(await ask('once'), { code: 'UPSTREAM_PROVIDER_ERROR' });
  assert.equal((await ask('once')).status, 200);

  await next('length');
  const { body } = await chat(
    { url: service.url, key: String(apiKey), user: 'once' },
    { stream: true, model: 'sandbox/error' },
  );
  assert.equal(body['error'], undefined, 'it comes before the model');

  await next('error');
  assert.equal((await next(null)).body['nextOutcome'], null);
  assert.equal((await ask('once')).status, 200);
  await next('error');
  assert.equal(((await reset('once', {})).body as { nextOutcome: unknown }).nextOutcome, null);
  const unknown = await next('crash');
  assertRefusal(unknown, { code: 'BAD_REQUEST' });
  assert.match(unknown.text, /must be one of `throttled`, /);
});
