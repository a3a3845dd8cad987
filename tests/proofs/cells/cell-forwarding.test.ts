import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createMarkers, MARKER } from '../../../packages/service/src/cells/routing/marker.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { proofsOf } from '../../../packages/service/src/kernel/crypto/keys.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { openStream, payloadsOf } from '../../support/open-stream.ts';
import { exchangeRaw } from '../../support/raw-http.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { saying, startScriptedUpstream, streamSteps, USAGE } from '../../support/scripted-upstream.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { answerFault, standIn } from './stand-in-cell.ts';
import { startTwoCells } from './two-cells.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Requests that reach the gateway of another cell than their user's. */

const upstream = await startScriptedUpstream();
const cells = await startTwoCells(upstream.baseUrl);
const { c1, c2, app } = cells;
const key = app.liveKey;
const CHARGE = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
after(() => cells.close(upstream));

/** A user of `c2` with money there. Requests about them are sent to `c1`. */
async function funded(): Promise<EndUserId> {
  const user = cells.userOf('c2');
  await c2.fund(app, user, 1_000_000);
  return user;
}

await waitUntil('c1 knows the address of c2', async () => {
  const { status } = await send('/balance', { url: c1.url, key, user: cells.userOf('c2') });
  return status === 402;
});

const marks = createMarkers('c1', proofsOf({ secret: Buffer.from(SHARED_SECRET.PURSER_SECRET) })('cells'), systemClock);

test('CE-02 a call at the wrong cell is charged at home', async () => {
  const user = await funded();
  upstream.script(saying('From afar'));
  const reply = await chat({ url: c1.url, key, user, headers: { 'x-correlation-id': 'far-1' } });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.text, /From afar/);
  assert.equal(reply.headers.get('x-correlation-id'), 'far-1');
  assert.equal(reply.headers.get('x-service-charge-micros'), String(CHARGE));
  assert.equal((await c2.wallet(app, user)).balance, 1_000_000 - CHARGE);
  // A retry at either cell finds the first answer.
  upstream.script(saying('Once'));
  const again = { key, user, headers: { 'idempotency-key': 'one' } };
  const replies = [
    await chat({ url: c1.url, ...again }),
    await chat({ url: c2.url, ...again }),
    await chat({ url: c1.url, ...again }),
  ];
  assert.deepEqual(
    replies.map(({ status, text, headers }) => [status, text, headers.get('x-service-replayed')]),
    [null, 'true', 'true'].map((replayed) => [200, replies[0]?.text, replayed]),
  );
  assert.equal((await c2.wallet(app, user)).balance, 1_000_000 - 2 * CHARGE);
  const { rows } = await c1.database.owner.query('select from ledger.wallets');
  assert.equal(rows.length, 0);
  await waitUntil('c2 has logged the call', () => c2.linesOf('far-1').length === 1);
  assert.deepEqual(
    c1.linesOf('far-1').map(({ msg, cell, status }) => ({ msg, cell, status })),
    [{ msg: 'forwarded', cell: 'c2', status: 200 }],
  );
});

test('CE-02 other routes answer the same at both cells', async () => {
  const user = await funded();
  upstream.script(saying('Hi'));
  const callId = (await chat({ url: c1.url, key, user })).headers.get('x-service-call-id');
  const both = async (path: string, options: object = {}): Promise<readonly [Reply, Reply]> => [
    await send(path, { url: c1.url, key, user, ...options }),
    await send(path, { url: c2.url, key, user, ...options }),
  ];
  for (const path of ['/balance', '/usage/summary', `/calls/${callId}`]) {
    const [far, near] = await both(path);
    assert.deepEqual([far.status, far.body], [200, near.body], path);
  }
  const [far] = await both('/connect', { body: { redirectUri: REDIRECT_URI } });
  assert.ok(String(far.body['connectUrl']).startsWith('https://c2.purser.test/'), far.text);
  const head = await fetch(`${c1.url}/balance`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${key}`, 'x-service-user': user },
  });
  assert.deepEqual([head.status, head.headers.has('content-length'), await head.text()], [200, true, '']);
  const [play, playNear] = await both('/balance', { key: app.testKey });
  assert.deepEqual(
    [play.status, play.body['error']],
    [402, { ...playNear.error, correlationId: play.error['correlationId'] }],
  );
  const local = cells.userOf('c1');
  await c1.fund(app, local, 5);
  assert.equal((await send('/balance', { url: c2.url, key, user: local })).body['balanceMicros'], 5);
});

test('CE-02 a forwarded stream arrives as it comes', async () => {
  const user = await funded();
  const more = Promise.withResolvers<void>();
  const steps = streamSteps({ model: 'm', pieces: ['one', 'two'], usage: USAGE, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: more.promise }, ...steps.slice(2)] });
  const stream = await openStream({ url: c1.url, key, user });
  await stream.until('one');
  more.resolve();
  assert.equal(payloadsOf(await stream.whole()).at(-1), '[DONE]');
  assert.equal((await c2.wallet(app, user)).balance, 1_000_000 - CHARGE);

  const at = upstream.requests.length;
  upstream.script({ body: [...steps.slice(0, 2), { hang: true }] });
  const left = await openStream({ url: c1.url, key, user });
  await left.until('one');
  left.leave();
  const request = await upstream.arrival(at);
  await request.closed;
  assert.equal(request.aborted, true);
  await waitUntil('the hold is over', async () => (await c2.wallet(app, user)).held === 0);
});

test('CE-02 a forwarded call is refused as everywhere', async () => {
  const user = await funded();
  const before = upstream.requests.length;
  assertRefusal(await chat({ url: c1.url, key: 'svc_live_nobody', user }), { code: 'UNAUTHORIZED' });
  assertRefusal(await chat({ url: c1.url, key, user: 'two words' }), { code: 'BAD_REQUEST' });
  assertRefusal(await chat({ url: c1.url, key, user }, { model: 'no-such' }), { code: 'BAD_REQUEST' });
  assertRefusal(await chat({ url: c1.url, key, user, body: 'x'.repeat(1_048_577) }), { code: 'PAYLOAD_TOO_LARGE' });
  assertRefusal(await chat({ url: c1.url, key, user: cells.userOf('c2') }), { code: 'PAYMENT_REQUIRED' });
  assert.equal(upstream.requests.length, before);
});

test('CE-02 a request is forwarded only once', async () => {
  const user = await funded();
  const before = upstream.requests.length;
  await cells.give('c2', user, 'c1');
  await waitUntil('c2 believes that c1 has the user', async () => {
    return (await send('/balance', { url: c2.url, key, user })).status === 429;
  });
  const reply = await chat({ url: c1.url, key, user });
  assertRefusal(reply, { code: 'TOO_MANY_REQUESTS' });
  assert.match(String(reply.error['message']), /Nothing was charged/);
  assert.deepEqual([reply.headers.get('retry-after'), reply.headers.get('x-should-retry')], ['1', 'true']);
  assert.equal(upstream.requests.length, before);
  assert.deepEqual(await c2.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  await cells.give('c2', user, 'c2');
});

test('CE-08 a marker counts for one request and a minute', async () => {
  const user = await funded();
  const ask = (marker: string, id = 'marked') =>
    send('/balance', { url: c2.url, key, user, headers: { [MARKER]: marker, 'x-correlation-id': id } });
  const good = marks.make('c2', 'marked', '192.0.2.7');
  assert.equal((await ask(good)).status, 200);
  const past = createMarkers('c1', proofsOf({ secret: Buffer.from(SHARED_SECRET.PURSER_SECRET) })('cells'), {
    nowMs: () => systemClock.nowMs() - 61_000,
  });
  const strangers = createMarkers(
    'c1',
    proofsOf({ secret: Buffer.from('another secret of somebody else') })('cells'),
    systemClock,
  );
  const bad = [
    await ask('1'),
    await ask(good, 'another'),
    await ask(good.replace('192.0.2.7', '192.0.2.8')),
    await ask(marks.make('c3', 'marked', '192.0.2.7')),
    await ask(past.make('c2', 'marked', '192.0.2.7')),
    await ask(strangers.make('c2', 'marked', '192.0.2.7')),
  ];
  for (const reply of bad) {
    assertRefusal(reply, { code: 'BAD_REQUEST' });
    assert.equal(reply.headers.get(MARKER), 'refused');
  }
});

test('CE-02 CP-08 no caller can forge the forwarded address', async () => {
  const user = await funded();
  const ask = (url: string, headers = {}) => send('/balance', { url, key: app.boundKey, user, headers });
  const id = { 'x-correlation-id': 'bound' };
  assert.equal((await ask(c2.url, { ...id, [MARKER]: marks.make('c2', 'bound', '192.0.2.7') })).status, 200);
  for (const reply of [await ask(c2.url), await ask(c1.url), await ask(c1.url, { 'x-forwarded-for': '192.0.2.7' })]) {
    assertRefusal(reply, { code: 'FORBIDDEN' });
    assert.match(String(reply.error['message']), /`127\.0\.0\.1`/);
  }
});

test('CE-02 connection headers are not forwarded in either direction', async (t) => {
  const { heads, bodies } = await standIn(t, cells, answerFault);
  const user = cells.userOf('c2');
  const body = '{"redirectUri":"ü"}';
  const reply = await exchangeRaw(
    c1.url,
    `POST /connect?a=b HTTP/1.1\r\nhost: pay.test\r\nauthorization: Bearer ${key}\r\nx-service-user: ${user}\r\nidempotency-key: k\r\n` +
      `connection: close, x-ours\r\nx-ours: hop\r\nx-forwarded-for: 192.0.2.1\r\nx-service-elsewhere: 1\r\nx-correlation-id: raw-1\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  assert.deepEqual([reply.status, /"correlationId":"raw-1"/.test(reply.body)], [500, true], reply.text);
  assert.deepEqual([reply.headers.get('x-theirs'), reply.headers.get('x-service-call-id')], [undefined, 'one']);
  const { headers = {}, url = '' } = heads.at(-1) ?? {};
  assert.equal(url, '/connect?a=b');
  assert.equal(bodies.at(-1), body);
  for (const name of ['x-ours', 'x-forwarded-for', 'x-service-elsewhere']) assert.equal(headers[name], undefined, name);
  assert.deepEqual(
    [headers['x-service-user'], headers['idempotency-key'], headers['x-correlation-id']],
    [user, 'k', 'raw-1'],
  );
});

test('CE-02 an address is forwarded verbatim', async (t) => {
  const { heads } = await standIn(t, cells, answerFault);
  const user = cells.userOf('c2');
  const head = `host: pay.test\r\nauthorization: Bearer ${key}\r\nx-service-user: ${user}\r\nconnection: close\r\n\r\n`;
  for (const target of ['/calls/../metrics', '/calls/%2e%2e/status?a=%2F..', '/calls/a\\..\\b']) {
    await exchangeRaw(c1.url, `GET ${target} HTTP/1.1\r\n${head}`);
    assert.equal(heads.at(-1)?.url, target);
  }
});

test('CE-02 a request without an answer is not sent again', async (t) => {
  let next: (response: ServerResponse) => void = answerFault;
  const { heads } = await standIn(t, cells, (response) => next(response));
  const user = cells.userOf('c2');
  const socket = heads.at(-1)?.socket;
  const before = heads.length;
  next = (response) => response.destroy();
  const body = { redirectUri: REDIRECT_URI };
  assertRefusal(await send('/connect', { url: c1.url, key, user, body }), { code: 'INTERNAL_SERVER_ERROR' });
  assert.deepEqual([heads.length, heads.at(-1)?.socket === socket], [before + 1, true]);
  // It may be charged there, so nothing may say that it is not.
  await assert.rejects(chat({ url: c1.url, key, user }));
  assert.equal(heads.length, before + 2);

  next = (response) => {
    response.writeHead(400, { [MARKER]: 'refused' });
    response.end('{"error":{}}');
  };
  const refused = await send('/balance', { url: c1.url, key, user, headers: { 'x-correlation-id': 'skewed' } });
  assertRefusal(refused, { code: 'INTERNAL_SERVER_ERROR' });
  assert.match(JSON.stringify(c1.linesOf('skewed')), /Compare the clocks/);
});

test('CE-02 an answer broken off elsewhere breaks off here', async (t) => {
  await standIn(t, cells, (response) => {
    const isStream = response.req.url === '/v1/chat/completions';
    const type = isStream ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8';
    const id = String(response.req.headers['x-correlation-id']);
    response.writeHead(200, { 'content-type': type, 'x-correlation-id': id, 'x-request-id': id });
    response.write(isStream ? ': one\n\n' : '{"balanceMicros":', () => response.destroy());
  });
  const user = cells.userOf('c2');
  await assert.rejects((await openStream({ url: c1.url, key, user })).whole());
  await assert.rejects(send('/balance', { url: c1.url, key, user: cells.userOf('c2') }));
});

const fails = ({ msg }: Readonly<Record<string, unknown>>) => msg === 'another cell cannot be reached';

test('CE-02 an unreachable cell costs its users nothing', async (t) => {
  const user = await funded();
  const closed = createServer();
  closed.listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await cells.setAddress('c1', 'c2', `http://127.0.0.1:${port}`);
  t.after(() => cells.setAddress('c1', 'c2', c2.url));
  await waitUntil('c1 has the address', async () => {
    await send('/balance', { url: c1.url, key, user, headers: { 'x-correlation-id': 'asked' } });
    return c1.linesOf('asked').some(fails);
  });
  const reply = await chat({ url: c1.url, key, user, headers: { 'x-correlation-id': 'unreached' } });
  assertRefusal(reply, { code: 'INTERNAL_SERVER_ERROR' });
  assert.deepEqual(await c2.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
  assert.ok(c1.linesOf('unreached').some(fails));
  const own = cells.userOf('c1');
  await c1.fund(app, own, 7);
  assert.equal((await send('/balance', { url: c1.url, key, user: own })).status, 200);
});
