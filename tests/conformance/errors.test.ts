import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, COMPLETIONS, httpSend, type Reply, send } from '../support/client.ts';
import { callRoute, DATA_PLANE, type DataPlaneRoute } from '../support/every-route-refuses.ts';
import { openStream } from '../support/open-stream.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { startSecondGateway } from '../support/service.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 1, completion_tokens: 1 };

const { upstream, service, app, callAs } = await setStage();
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
const second = await startSecondGateway(service);
await service.fund(app, 'u', 1_000_000);

const HEALTH: readonly DataPlaneRoute[] = ['/healthz', '/readyz'].map((path) => {
  return { name: `GET ${path}`, method: 'GET', path, isForUser: false, body: undefined };
});
const NOWHERE = { name: 'GET /nowhere', method: 'GET', path: '/nowhere', isForUser: false, body: undefined } as const;
const ROUTES = [...DATA_PLANE, ...HEALTH, NOWHERE];

/** Each route with a valid call, a call without a key and a call in sandbox mode. */
async function everyAnswer(headers: Readonly<Record<string, string>>): Promise<readonly (readonly [string, Reply])[]> {
  const replies: (readonly [string, Reply])[] = [];
  for (const route of ROUTES) {
    for (const key of [app.liveKey, app.testKey, 'nobody']) {
      replies.push([route.name, await callRoute(route, { url: service.url, key, user: 'u', headers })]);
    }
  }
  return replies;
}

const ACCEPTED_IDS = ['a', 'A-Z_a.z:09', '.', '-', `${'x'.repeat(127)}:`];

test('ER-02 every answer carries the caller’s correlation id', async () => {
  for (const id of ACCEPTED_IDS) {
    for (const [name, reply] of await everyAnswer({ 'x-correlation-id': id })) {
      assert.equal(reply.headers.get('x-correlation-id'), id, name);
      assert.equal(reply.headers.get('x-request-id'), id, name);
      if (reply.status >= 400) assert.equal(reply.error['correlationId'], id, name);
    }
  }
});

test('ER-02 a malformed correlation id is replaced by a new one', async () => {
  const refused = ['', 'x'.repeat(129), 'a b', 'a,b', 'a/b', 'a\u00e9', '"a"', 'a;b', '<script>', "a'b"];
  const seen = new Set<string>();
  for (const id of refused) {
    const replies = await everyAnswer({ 'x-correlation-id': id });
    for (const [name, reply] of replies) {
      const made = reply.headers.get('x-correlation-id') ?? '';
      assert.match(made, /^[A-Za-z0-9._:-]{1,128}$/, name);
      assert.equal(reply.headers.get('x-request-id'), made, name);
      seen.add(made);
    }
    const models = replies.find(([name]) => name === 'GET /v1/models');
    assert.equal(models?.[1].status, 200);
  }
  assert.equal(seen.size, refused.length * ROUTES.length * 3, 'each answer has its own id');
});

test('ER-02 calls without a correlation id get a new one', async () => {
  const ids = new Set((await everyAnswer({})).map(([, reply]) => reply.headers.get('x-correlation-id')));
  assert.equal(ids.size, ROUTES.length * 3);
  assert.ok(!ids.has(null));
});

test('ER-02 a stream carries its correlation id and an unrelated call id', async () => {
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hi'], usage: USAGE, includeUsageChunk: true }) });
  const headers = { 'x-correlation-id': 'mine' };
  const calls = new Set<string | null>();
  for (let count = 0; count < 2; count += 1) {
    const stream = await openStream({ url: service.url, key: app.liveKey, user: 'u', headers });
    assert.equal(stream.headers.get('x-correlation-id'), 'mine');
    assert.equal(stream.headers.get('x-request-id'), 'mine');
    assert.ok((await stream.whole()).endsWith('data: [DONE]\n\n'));
    calls.add(stream.headers.get('x-service-call-id'));
  }
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
  const plain = await callAs('u', {}, { headers });
  calls.add(plain.headers.get('x-service-call-id'));
  assert.equal(calls.size, 3, 'calls with one correlation id are still three calls');
  for (const id of calls) assert.match(id ?? '', /^[0-9a-f-]{36}$/);
});

test('ER-04 an unknown route answers in the envelope, with any method', async () => {
  const paths = ['/v1', '/v1/', '/v1/complete', '/v2/models', '/v1/models/', '/balance/', '/usage', '/V1/models'];
  for (const path of [
    ...paths,
    '//v1/models',
    '/v1/models/%',
    '/v1/chat/completions/x',
    '/__proto__',
    '/constructor',
  ]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const reply = await httpSend(service.url, { method, path, headers: { authorization: `Bearer ${app.liveKey}` } });
      assertRefusal(reply, { code: 'NOT_FOUND', hasLink: false }, `${method} ${path}`);
    }
  }
});

test('ER-04 a wrong method is refused with the accepted list', async () => {
  const routes = [...DATA_PLANE, ...HEALTH].map(({ method, path }) => ({ path, takes: method }));
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'];
  for (const { path, takes } of routes) {
    for (const method of methods.filter((one) => one !== takes)) {
      const reply = await httpSend(service.url, { method, path, headers: { authorization: `Bearer ${app.liveKey}` } });
      assertRefusal(reply, { code: 'METHOD_NOT_ALLOWED', hasLink: false }, `${method} ${path}`);
      const allowed = reply.headers.get('allow')?.split(', ') ?? [];
      assert.ok(allowed.includes(takes) && !allowed.includes(method), `${method} ${path}: ${allowed.join()}`);
    }
  }
});

test('ER-04 a wrong method with a body leaves the connection usable', async () => {
  for (let count = 0; count < 5; count += 1) {
    const refused = await send('/balance', { url: service.url, method: 'POST', body: { a: 'b'.repeat(100_000) } });
    assertRefusal(refused, { code: 'METHOD_NOT_ALLOWED' });
    assert.equal((await send('/v1/models', { url: service.url, key: app.liveKey })).status, 200);
  }
});

test('ER-08 a body that is not HTTP is refused once, also by pages', async () => {
  for (const path of ['/favicon.svg', '/console', '/accounts']) {
    for (const method of ['GET', 'DELETE']) {
      const id = `unreadable:${method}${path.replaceAll('/', '.')}`;
      const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-correlation-id: ${id}\r\ntransfer-encoding: chunked\r\n\r\n`;
      const { status, text } = await exchangeRaw(service.url, `${head}zz\r\n`);
      assert.equal(status, 400, `${method} ${path}`);
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
      assert.deepEqual(service.linesOf(id), [], `${method} ${path}`);
    }
  }
});

test('ER-08 an unreadable body is refused once while the caller is looked up', async () => {
  for (const path of ['/calls/x', '/balance', '/v1/messages/count_tokens', COMPLETIONS]) {
    for (const mode of ['liveKey', 'testKey'] as const) {
      const id = `looked-up:${mode}${path.replaceAll('/', '.')}`;
      const { [mode]: key } = await service.addApp(); // Its key and its rate are asked for.
      const method = path.startsWith('/v1/') ? 'POST' : 'GET';
      const head = [`${method} ${path} HTTP/1.1`, 'host: x', `x-correlation-id: ${id}`, `authorization: Bearer ${key}`];
      const bytes = [...head, 'x-service-user: u', 'transfer-encoding: chunked', '', 'zz', ''].join('\r\n');
      assert.equal((await exchangeRaw(service.url, bytes)).status, 400, path);
      await send('/balance', { url: service.url, key, user: 'u' }); // It waits for the same two answers, and comes later.
      const faults = service.linesOf(id).filter(({ level }) => level === 'error');
      assert.deepEqual(faults, [], `${mode} ${path}`);
    }
  }
});

test('ER-01 HEAD answers as GET does, without a body', async () => {
  for (const route of DATA_PLANE.filter(({ method }) => method === 'GET')) {
    const call = { url: service.url, key: app.liveKey, user: 'u' };
    const got = await callRoute(route, call);
    const reply = await callRoute({ ...route, method: 'HEAD' as 'GET' }, call);
    assert.equal(reply.status, got.status);
    assert.equal(reply.text, '');
    assert.equal(reply.headers.get('content-length'), got.headers.get('content-length'));
  }
});

const FAULTS: readonly {
  readonly name: string;
  readonly revoke: string;
  readonly grant: string;
  readonly path: string;
}[] = [
  {
    name: 'the wallet',
    revoke: 'revoke select on ledger.wallets from purser_live',
    grant: 'grant select on ledger.wallets to purser_live',
    path: '/balance',
  },
  {
    name: 'the usage',
    revoke: 'revoke select on usage.calls from purser_live',
    grant: 'grant select on usage.calls to purser_live',
    path: '/usage/summary',
  },
  {
    name: 'the hold',
    revoke: 'revoke execute on function ledger.place_one from purser_live',
    grant: 'grant execute on function ledger.place_one to purser_live',
    path: COMPLETIONS,
  },
];

test('ER-03 our fault is one fixed sentence, detailed only in logs', async () => {
  const messages = new Set<unknown>();
  for (const { name, revoke, grant, path } of FAULTS) {
    const id = `fault:${path.replaceAll('/', '.')}`;
    await service.database.owner.query(revoke);
    try {
      const route = DATA_PLANE.find((one) => one.path === path);
      assert.ok(route !== undefined);
      const call = { url: second.url, key: app.liveKey, user: 'u', headers: { 'x-correlation-id': id } };
      const reply = await callRoute(route, call);
      assertRefusal(reply, { code: 'INTERNAL_SERVER_ERROR', param: null, hasLink: false }, name);
      messages.add(reply.error['message']);
      assert.doesNotMatch(reply.text + JSON.stringify([...reply.headers]), /permission|denied|ledger|usage\.calls/);
      const lines = second.logged().filter((line) => line.includes(id) && line.includes('permission denied'));
      assert.equal(lines.length, 1, `${name}: ${second.logged().join('\n')}`);
    } finally {
      await service.database.owner.query(grant);
    }
  }
  assert.equal(messages.size, 1);
});

test('SB-02 LI-01 a fault’s answer keeps the mode and remaining rate', async () => {
  await sql(service)`revoke execute on function sandbox.place from purser_sandbox`;
  try {
    const { status, headers } = await chat({ url: second.url, key: app.testKey, user: 'u' });
    assert.equal(status, 500);
    assert.equal(headers.get('x-service-mode'), 'sandbox');
    assert.match(headers.get('ratelimit') ?? '', /^"app";r=\d+;t=\d+$/);
    assert.notEqual(headers.get('x-correlation-id'), null);
  } finally {
    await sql(service)`grant execute on function sandbox.place to purser_sandbox`;
  }
});

test('ER-03 no key, prompt or user is logged for a failed call', async () => {
  upstream.script({ status: 500, body: '{"error":{"message":"PROVIDER-WORDS"}}' });
  const content = 'PROMPT-WORDS';
  await chat({ url: second.url, key: app.liveKey, user: 'u' }, { messages: [{ role: 'user', content }] });
  await send('/balance', { url: second.url, key: 'svc_live_LEAKED', user: 'USER-NAME' });
  const logged = second.logged().join('\n');
  assert.match(logged, /the provider failed a call/);
  for (const secret of [app.liveKey, 'PROMPT-WORDS', 'PROVIDER-WORDS', 'svc_live_LEAKED', 'USER-NAME']) {
    assert.ok(!logged.includes(secret), `${secret} is in the log`);
  }
});

test('SB-02 a requested sandbox failure does not warn the operator', async () => {
  const asked = { url: second.url, key: app.testKey, user: 'u' };
  const before = second.logged().length;
  assert.equal((await chat(asked, { model: 'sandbox/error' })).status, 502);
  assert.match((await chat(asked, { model: 'sandbox/error-midway', stream: true })).text, /UPSTREAM_PROVIDER_ERROR/);
  // Every call has its own line, which is no warning (CC-19).
  const warnings = second
    .logged()
    .slice(before)
    .filter((line) => !line.endsWith(',"call"]'));
  assert.deepEqual(warnings, []);
});
