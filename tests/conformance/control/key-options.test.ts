import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { chargeFor, withVectors } from '../../support/catalogue.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { callRoute, FOR_USER } from '../../support/every-route-refuses.ts';
import { createGate } from '../../support/gate.ts';
import { givingUp } from '../../support/giving-up.ts';
import { setApp } from '../../support/operator-acts.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import type { TestApp } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sayingToAll } from '../../support/wires.ts';

/** API keys for tools that cannot name a user, or cannot mark a retry. */

const stage = await setStage({ catalogue: withVectors });
const scenarios = scenariosOf(stage);
const { service, upstream } = stage;
const owner = await newOwner(service);
// Before the first test: a run of some tests alone ends with the last that it has found.
const anyApp = await newApp();
const USAGE = { prompt_tokens: 40, completion_tokens: 20 };
const ANSWER = { body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const FUNDS = 1_000_000;

interface Key {
  readonly keyId: string;
  readonly apiKey: string;
}

async function newApp(): Promise<string> {
  return String((await owner.get(201, 'POST', '/apps', { name: 'App' }))['appId']);
}

async function mint(appId: string, options: object): Promise<Key> {
  return (await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live', ...options })) as unknown as Key;
}

function appOf(appId: string): TestApp {
  return { appId } as TestApp;
}

const ANNA = { userId: 'anna', joinSeconds: 30 };

test('CP-08 a bound key shows its user and cannot change', async () => {
  const appId = await newApp();
  const path = `/apps/${appId}/keys`;
  const made = await owner.get(201, 'POST', path, { mode: 'sandbox', ...ANNA });
  assert.deepEqual([made['userId'], made['joinSeconds']], ['anna', 30]);
  await mint(appId, {});
  const { keys } = (await owner.get(200, 'GET', path)) as unknown as { keys: readonly Record<string, unknown>[] };
  const shown = keys.map(({ userId, joinSeconds }) => [userId, joinSeconds]);
  assert.deepEqual(shown, [
    ['anna', 30],
    [undefined, undefined],
  ]);
  const { entries } = await owner.get(200, 'GET', '/accounts/current/audit');
  const act = (entries as { subject: string; after: object }[]).find(({ subject }) => subject === made['keyId']);
  assert.deepEqual({ ...act?.after, hint: undefined }, { mode: 'sandbox', hint: undefined, ...ANNA });
  for (const change of [`bound_user = 'bert'`, 'bound_user = null', 'join_seconds = 60']) {
    const changing = service.database.owner.query(`update accounts.api_keys set ${change} where key_id = $1`, [
      made['keyId'],
    ]);
    await assert.rejects(changing, /only revoked/);
  }
});

scenarios({ as: owner, request: `POST /apps/${anyApp}/keys`, body: { mode: 'live' }, code: 'BAD_REQUEST' }, [
  { name: 'CP-08 a key is bound to no blank user', body: { userId: '' }, param: 'userId' },
  { name: 'CP-08 a key is bound to no user with a space', body: { userId: 'an na' }, param: 'userId' },
  { name: 'CP-08 a key is bound to no overlong user', body: { userId: 'x'.repeat(257) }, param: 'userId' },
  { name: 'CP-08 a key is bound to no null user', body: { userId: null }, param: 'userId' },
  { name: 'CP-08 a key joins within a second at least', body: { joinSeconds: 0 }, param: 'joinSeconds' },
  { name: 'CP-08 a key joins within a minute at most', body: { joinSeconds: 61 }, param: 'joinSeconds' },
  { name: 'CP-08 a key joins within whole seconds', body: { joinSeconds: 1.5 }, param: 'joinSeconds' },
]);

test('AU-03 CP-08 a bound key needs no `x-service-user` and serves only its user', async () => {
  const appId = await newApp();
  await owner.get(200, 'PATCH', `/apps/${appId}`, { redirectUris: ['https://app.test/back'] });
  for (const user of ['anna', 'bert']) await service.fund(appOf(appId), user, 1_000_000);
  await setApp(service, appOf(appId), 'rate_burst = 10000');
  upstream.script(sayingToAll('Hi.', USAGE));
  const { url } = service;
  for (const mode of ['live', 'sandbox'] as const) {
    const { apiKey, keyId } = await mint(appId, { mode, userId: 'anna' });
    for (const route of FOR_USER) {
      const own = await callRoute(route, { url, key: apiKey });
      const named = await callRoute(route, { url, key: apiKey, user: 'anna' });
      assert.deepEqual([own.status, own.body['userId']], [named.status, named.body['userId']], route.name);
      assert.ok(![400, 401].includes(own.status), own.text);
      for (const user of ['bert', 'Anna', 'ann', 'anna2', '']) {
        const reply = await callRoute(route, { url, key: apiKey, headers: { 'x-service-user': user } });
        assertRefusal(reply, { code: 'BAD_REQUEST', param: 'x-service-user' }, `${route.name} ${user}`);
        assert.match(String(reply.error['message']), /bound to one end user/);
      }
    }
    assert.equal((await send('/v1/models', { url, key: apiKey })).status, 200);
    await owner.get(204, 'DELETE', `/apps/${appId}/keys/${keyId}`);
    assert.equal((await send('/v1/models', { url, key: apiKey })).status, 401);
  }
  const spent = async (user: string) => 1_000_000 - (await service.wallet(appOf(appId), user)).balance;
  assert.ok((await spent('anna')) > 0);
  assert.equal(await spent('bert'), 0);
});

test('CP-08 a bound key reads no receipt of another user', async () => {
  const appId = await newApp();
  for (const user of ['anna', 'bert']) await service.fund(appOf(appId), user, 1_000_000);
  upstream.script(ANSWER);
  const anyone = await mint(appId, {});
  const bound = await mint(appId, { userId: 'anna' });
  for (const [user, status] of [
    ['anna', 200],
    ['bert', 404],
  ] as const) {
    const reply = await chat({ url: service.url, key: anyone.apiKey, user });
    const path = `/calls/${reply.headers.get('x-service-call-id')}`;
    assert.equal((await send(path, { url: service.url, key: anyone.apiKey, user })).status, 200);
    assert.equal((await send(path, { url: service.url, key: bound.apiKey })).status, status);
  }
});

/** A user of a new app with money, and a key that joins their calls. */
async function joining() {
  const appId = await newApp();
  await service.fund(appOf(appId), 'dora', FUNDS);
  const { apiKey: key } = await mint(appId, { joinSeconds: 10 });
  const before = upstream.requests.length;
  return {
    appId,
    caller: { url: service.url, key, user: 'dora' },
    asked: () => upstream.requests.length - before,
    spent: async () => {
      const { balance, held } = await service.wallet(appOf(appId), 'dora');
      assert.equal(held, 0);
      return FUNDS - balance;
    },
  };
}

const isReplay = ({ headers }: Reply): boolean => headers.get('x-service-replayed') === 'true';

test('CC-14 an unmarked retry is charged once if its key joins', async () => {
  const { caller, asked, spent } = await joining();
  const gate = createGate();
  upstream.script({ body: [{ waitFor: gate.opened }, { write: ANSWER.body }] });
  const options = { baseURL: `${service.url}/v1`, apiKey: caller.key, maxRetries: 0 };
  const request = { model: 'large', messages: [{ role: 'user' as const, content: 'Hello' }] };
  const unmarked = { 'x-service-user': 'dora', 'x-stainless-retry-count': null };
  const isJoined = async () => {
    const { rows } = await service.database.owner.query('select from ledger.holds where is_joined');
    return rows.length === 1;
  };
  const isAsked = () => asked() === 1;
  for (const isTaken of [isAsked, isJoined, isJoined]) {
    const isOver = () => waitUntil('the gateway has the call', isTaken);
    await assert.rejects(
      new OpenAI({ ...options, fetch: givingUp(isOver) }).chat.completions.create(request, { headers: unmarked }),
      OpenAI.APIConnectionTimeoutError,
    );
  }
  const last = new OpenAI(options).chat.completions.create(request, { headers: unmarked });
  await waitUntil('the last one waits', isJoined);
  gate.open();
  assert.equal((await last).choices[0]?.message.content, 'Hi.');
  assert.deepEqual([asked(), await spent()], [1, CHARGE]);
});

test('CC-14 a joining key repeats an answer only for an equal body', async () => {
  const { appId, caller, asked, spent } = await joining();
  await service.fund(appOf(appId), 'emil', FUNDS);
  upstream.script(ANSWER);
  const together = await Promise.all(Array.from({ length: 5 }, () => chat(caller)));
  const [first] = together;
  assert.deepEqual(new Set(together.map(({ text }) => text)), new Set([first?.text]));
  assert.equal(together.filter((reply) => !isReplay(reply)).length, 1);
  assert.ok(isReplay(await chat(caller)), 'an answer that was delivered is given again');
  const twin = await mint(appId, { joinSeconds: 60 });
  assert.ok(isReplay(await chat({ ...caller, key: twin.apiKey })), 'and to another key of the app that joins');
  assert.deepEqual([asked(), await spent()], [1, CHARGE]);

  const plain = await mint(appId, {});
  const others = [
    await chat(caller, { temperature: 1 }),
    await chat({ ...caller, user: 'emil' }),
    await chat({ ...caller, key: plain.apiKey }),
    await chat({ ...caller, key: plain.apiKey, headers: { 'x-stainless-retry-count': '1' } }),
    await chat({ ...caller, headers: { 'idempotency-key': 'own' } }),
  ];
  assert.deepEqual(
    others.map(isReplay),
    others.map(() => false),
  );
  assert.deepEqual([asked(), await spent()], [6, 5 * CHARGE]);

  const ms = await sqlValue<number>(service)`select extract(epoch from a.expires_at - a.kept_at) * 1000 as ms
    from idempotency.kept_answers a where a.call_id = ${first?.headers.get('x-service-call-id')}`;
  assert.equal(Math.round(Number(ms) / 1_000), 10);
  await sql(service)`update idempotency.kept_answers set expires_at = clock_timestamp()`;
  assert.ok(!isReplay(await chat(caller)), 'its window is over');
  assert.deepEqual([asked(), await spent()], [7, 6 * CHARGE]);
});

test('CC-14 streams and test keys join too, failed calls do not', async () => {
  const { appId, caller, asked, spent } = await joining();
  upstream.script({ status: 500, body: '' });
  assert.equal((await chat(caller, { stream: true })).status, 502);
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hi.'], usage: USAGE, includeUsageChunk: true }) });
  const streamed = await chat(caller, { stream: true });
  const again = await chat(caller, { stream: true });
  assert.deepEqual([isReplay(streamed), isReplay(again), again.text], [false, true, streamed.text]);
  assert.deepEqual([asked(), await spent()], [2, CHARGE]);
  const test = await mint(appId, { mode: 'sandbox', joinSeconds: 10 });
  const sandboxed = [await chat({ ...caller, key: test.apiKey }), await chat({ ...caller, key: test.apiKey })];
  assert.deepEqual(sandboxed.map(isReplay), [false, true]);
});
