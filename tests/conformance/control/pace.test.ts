import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownCallers, strangers } from '../../../packages/service/src/http/requests/read-body.ts';
import { type Reply, send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { openRaw, parseRaw } from '../../support/raw-http.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const BURST = 4;
/** An address may send as much as five accounts. */
const ADDRESS_BURST = 20;
/** Strangers of one address may ask for half as many pages as an account for routes, and an account for a quarter. */
const STRANGERS_BURST = 2;
// Behind one proxy of ours, so that a test can call from any address. Buckets that hardly refill during the test.
const { service, app } = await setStage({
  environment: {
    PURSER_PROXY_HOPS: '1',
    PURSER_ACCOUNT_RATE_PER_MINUTE: '1',
    PURSER_ACCOUNT_RATE_BURST: String(BURST),
  },
});
const { url } = service;

let addresses = 0;
function newAddress(): string {
  return `203.0.113.${(addresses += 1)}`;
}

/** The answer to the head of a request whose body never comes. */
async function answerToHead(line: string, headers: readonly string[]): Promise<ReturnType<typeof parseRaw>> {
  const connection = openRaw(url);
  connection.write(`${[`${line} HTTP/1.1`, 'host: x', ...headers].join('\r\n')}\r\n\r\n`);
  const text = await connection.until((all) => all.includes('\r\n\r\n') && all.endsWith('}'));
  connection.close();
  return parseRaw(text);
}

const PUBLIC = ['/accounts', '/sessions', '/pending-sign-ins/use', '/password-resets', '/password-resets/use'];
const JSON_TYPE = 'content-type: application/json';

test('CP-11 a public route refuses a body above 16 KiB', async () => {
  for (const path of PUBLIC) {
    const from = `x-forwarded-for: ${newAddress()}`;
    const declared = await answerToHead(`POST ${path}`, [from, JSON_TYPE, 'content-length: 16385']);
    assert.equal(declared.status, 413, `${path}: ${declared.text}`);
    const connection = openRaw(url);
    connection.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\n${from}\r\n${JSON_TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    connection.write(`4001\r\n${' '.repeat(16_385)}`);
    assert.equal(parseRaw(await connection.until((all) => all.endsWith('}'))).status, 413, path);
    connection.close();
  }
});

test('CP-11 a form above 16 KiB is refused before any arrives', async () => {
  const head = [`x-forwarded-for: ${newAddress()}`, 'origin: https://purser.test', 'content-length: 16385'];
  const connection = openRaw(url);
  const type = 'content-type: application/x-www-form-urlencoded';
  connection.write(`${['POST /sign-in HTTP/1.1', 'host: x', ...head, type].join('\r\n')}\r\n\r\n`);
  const text = await connection.until((all) => all.includes('</html>'));
  connection.close();
  assert.equal(parseRaw(text).status, 413, text);
});

test('CP-11 an address that sends too much is refused before reading', async () => {
  const address = newAddress();
  const headers = { 'x-forwarded-for': address };
  for (let sent = 0; sent < ADDRESS_BURST; sent += 1) {
    const path = PUBLIC[sent % PUBLIC.length] ?? '';
    assertRefusal(await send(path, { url, headers, body: 'no JSON' }), { code: 'BAD_REQUEST' }, path);
  }
  const read = strangers.bytes();
  const from = `x-forwarded-for: ${address}`;
  for (const path of [...PUBLIC, '/apps']) {
    const reply = await answerToHead(`POST ${path}`, [from, JSON_TYPE, 'content-length: 10']);
    assert.equal(reply.status, 429, `${path}: ${reply.text}`);
    assert.equal(reply.headers.get('x-should-retry'), 'true');
    assert.ok(Number(reply.headers.get('retry-after')) >= 1);
  }
  assert.equal((await answerToHead('POST /nowhere', [JSON_TYPE, 'content-length: 10'])).status, 404);
  assert.equal(strangers.bytes(), read, 'no body is being read');
  const form = openRaw(url);
  const type = 'content-type: application/x-www-form-urlencoded';
  const head = [from, 'origin: https://purser.test', 'content-length: 10', type];
  form.write(`${['POST /sign-in HTTP/1.1', 'host: x', ...head].join('\r\n')}\r\n\r\n`);
  assert.equal(parseRaw(await form.until((all) => all.includes('</html>'))).status, 429);
  form.close();
  assertRefusal(await send('/sessions', { url, headers: { 'x-forwarded-for': newAddress() }, body: {} }), {
    code: 'BAD_REQUEST',
  });
});

/** Sends a request from an address of its own. */
const ask = (key: string | undefined, method: string, path: string): Promise<Reply> =>
  send(path, { url, method, ...(key === undefined ? {} : { key }), headers: { 'x-forwarded-for': newAddress() } });

test('CP-11 an account is limited over all routes and addresses', async () => {
  const owner = await newOwner(service);
  const other = await newOwner(service);
  for (let asked = 0; asked < BURST; asked += 1) {
    const path = ['/apps', '/sessions', '/sessions/current', '/operator/apps'][asked] ?? '';
    assert.notEqual((await ask(owner.token, 'GET', path)).status, 429, path);
  }
  for (const [method, path] of [
    ['GET', '/apps'],
    ['PATCH', '/apps/x'],
    ['POST', '/apps'],
    ['GET', '/operator/apps'],
    ['DELETE', '/sessions/current'],
  ] as const) {
    const reply = await ask(owner.token, method, path);
    assertRefusal(reply, { code: 'TOO_MANY_REQUESTS', param: null, hasLink: false }, `${method} ${path}`);
    assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
  }
  assert.equal((await ask(other.token, 'GET', '/apps')).status, 200);
});

/** Asks for a page under the name that browsers know. */
async function page(path: string, address: string, cookie = ''): Promise<ReturnType<typeof parseRaw>> {
  const connection = openRaw(url);
  const head = ['host: purser.test', `x-forwarded-for: ${address}`, 'accept: text/html', `cookie: ${cookie}`];
  connection.write(`${[`GET ${path} HTTP/1.1`, ...head, 'connection: close'].join('\r\n')}\r\n\r\n`);
  return parseRaw(await connection.closed);
}

function assertTooFast(reply: ReturnType<typeof parseRaw>, about: string): void {
  assert.equal(reply.status, 429, `${about}: ${reply.text}`);
  assert.match(reply.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(reply.body, /You send requests faster than this service accepts/);
  assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
}

test('CP-11 pages are paced by address, assets and health are not', async () => {
  const paths = [
    '/guides?for=operators&q=backup',
    '/guides/app-developer',
    '/status',
    '/sign-in',
    '/wallet',
    '/',
    '/nowhere',
  ];
  await Promise.all(
    paths.map(async (path) => {
      const address = newAddress();
      for (let asked = 0; asked < STRANGERS_BURST; asked += 1)
        assert.notEqual((await page(path, address)).status, 429, path);
      assertTooFast(await page(path, address), path);
      for (let asked = 0; asked < ADDRESS_BURST; asked += 1) {
        for (const free of ['/favicon.svg', '/healthz']) assert.equal((await page(free, address)).status, 200, free);
      }
    }),
  );
});

test('CP-11 pages of an account are paced over all addresses', async () => {
  const [owner, other] = [await newOwner(service), await newOwner(service)];
  const cookieOf = ({ token = '' }: typeof owner) => `__Host-purser-session=${token}`;
  assert.equal((await page('/account', newAddress(), cookieOf(owner))).status, 200);
  assertTooFast(await page('/account', newAddress(), cookieOf(owner)), 'the same account');
  assert.equal((await page('/account', newAddress(), cookieOf(other))).status, 200);
  const address = newAddress();
  for (let asked = 0; asked < STRANGERS_BURST; asked += 1) {
    assert.equal((await page('/account', address, `__Host-purser-session=made-up-${asked}`)).status, 303);
  }
  assertTooFast(await page('/account', address, '__Host-purser-session=made-up'), 'made-up sessions');
});

test('CP-11 made-up tokens from one address are refused without database reads', async () => {
  const headers = { 'x-forwarded-for': newAddress() };
  for (let asked = 0; asked < ADDRESS_BURST; asked += 1) {
    assertRefusal(await send('/apps', { url, key: `made-up-${asked}`, headers }), { code: 'UNAUTHORIZED' });
  }
  assertRefusal(await send('/apps', { url, key: 'made-up', headers }), { code: 'TOO_MANY_REQUESTS' });
});

const KEYED = `authorization: Bearer ${app.liveKey}`;

test('CP-11 a call without a valid key is refused unread', async () => {
  for (const line of ['POST /v1/chat/completions', 'POST /connect', 'GET /balance', 'GET /v1/models']) {
    for (const key of [[], [`${KEYED.slice(0, -1)}!`]]) {
      const reply = await answerToHead(line, [...key, 'content-length: 1000000']);
      assert.equal(reply.status, 401, `${line}: ${reply.text}`);
    }
  }
  assert.equal(knownCallers.bytes(), 0);
});

test('CP-11 a control-plane request without a session is refused before its body', async () => {
  for (const line of ['POST /apps', 'PUT /operator/catalogue']) {
    const from = `x-forwarded-for: ${newAddress()}`;
    assert.equal((await answerToHead(line, [from, JSON_TYPE, 'content-length: 50000'])).status, 401, line);
  }
});

test('CP-11 a chunked body without a valid key is counted, then refused', async () => {
  const connection = openRaw(url);
  connection.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  connection.write(`f4240\r\n${' '.repeat(1_000_000)}\r\n`);
  await waitUntil('the body is being counted', () => strangers.bytes() > 0);
  assert.ok(strangers.bytes() <= 16_384, 'a million bytes take no more room than none');
  assert.equal(knownCallers.bytes(), 0);
  connection.write('0\r\n\r\n');
  assert.equal(parseRaw(await connection.until((all) => all.endsWith('}'))).status, 401);
  connection.close();
  await waitUntil('the room is free', () => strangers.bytes() === 0);
});

test('CP-11 a keyed call’s body counts until it is whole or abandoned', async () => {
  const body = JSON.stringify({ model: 'large', messages: [] });
  const head = ['POST /v1/chat/completions HTTP/1.1', 'host: x', KEYED, `content-length: ${body.length}`];
  for (const isWhole of [true, false]) {
    const connection = openRaw(url);
    connection.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
    await waitUntil('the body is being read', () => knownCallers.bytes() === 16_384);
    if (isWhole) {
      connection.write(body.slice(5));
      await connection.until((all) => all.endsWith('}'));
    }
    connection.close();
    await waitUntil('the room is free', () => knownCallers.bytes() === 0);
  }
});

test('CP-11 an authenticated body above 64 KiB is refused, except the catalogue', async () => {
  const owner = await newOwner(service);
  const session = `authorization: Bearer ${owner.token ?? ''}`;
  const from = `x-forwarded-for: ${newAddress()}`;
  const reply = await answerToHead('POST /apps', [session, from, JSON_TYPE, 'content-length: 65537']);
  assert.equal(reply.status, 413, reply.text);
});
