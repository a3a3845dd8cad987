import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { withVectors } from '../../support/catalogue.ts';
import { COMPLETIONS, httpSend, type Reply } from '../../support/client.ts';
import { callRoute, DATA_PLANE, everyRouteRefuses } from '../../support/every-route-refuses.ts';
import { openRaw, parseRaw } from '../../support/raw-http.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';
import { sayingToAll } from '../../support/wires.ts';

const LIMIT = 1_048_576;

const usage = { prompt_tokens: 2, completion_tokens: 3 };
/** The same on every wire. */
const { upstream, service, app } = await setStage({
  catalogue: withVectors,
  environment: { PURSER_CALL_BODY_BYTES_MAX: String(LIMIT) },
});
upstream.script(sayingToAll('Hi', usage));
await service.fund(app, 'u', 1_000_000_000);

const TOO_LARGE = { code: 'PAYLOAD_TOO_LARGE', param: null, hasLink: false } as const;
const QUESTION = '{"model":"large","messages":[{"role":"user","content":"Hello"}]}';

function good() {
  return { url: service.url, key: app.liveKey, user: 'u' };
}

function post(body: string | Buffer | readonly Buffer[]): Promise<Reply> {
  const headers = { authorization: `Bearer ${app.liveKey}`, 'x-service-user': 'u' };
  return httpSend(service.url, { method: 'POST', path: COMPLETIONS, headers, body });
}

function padded(bytes: number): Buffer {
  return Buffer.from(QUESTION.padEnd(bytes, ' '));
}

function inParts(body: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(body.length / 65_536) }, (_, index) =>
    body.subarray(index * 65_536, (index + 1) * 65_536),
  );
}

test('CC-06 a body of exactly the limit is accepted', async () => {
  for (const body of [padded(LIMIT), inParts(padded(LIMIT))]) assert.equal((await post(body)).status, 200);
});

test('CC-06 a body one byte over the limit is refused', async () => {
  for (const body of [padded(LIMIT + 1), inParts(padded(LIMIT + 1))]) {
    await everyRouteRefuses(DATA_PLANE, { ...good(), body }, TOO_LARGE);
  }
});

test('CC-06 the limit counts bytes, not characters', async () => {
  const content = 'é'.repeat(LIMIT / 2 - 20); // Fewer characters than the limit, but more bytes.
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content }] });
  assert.ok(body.length < LIMIT);
  assertRefusal(await post(body), TOO_LARGE);
});

/** The connection itself stays open for a while, to take the rest of the body off the line. */
const isAnswered = (text: string): boolean => text.includes('PAYLOAD_TOO_LARGE');

test('CC-06 a declared length above the limit is refused early', async () => {
  for (const { method, path, name } of DATA_PLANE) {
    const connection = openRaw(service.url);
    connection.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${LIMIT + 1}\r\n\r\n`);
    assert.equal(parseRaw(await connection.until(isAnswered)).status, 413, name);
    connection.close();
  }
});

test('CC-06 a body of undeclared length is refused at the limit', async () => {
  for (const { method, path, name } of DATA_PLANE) {
    const connection = openRaw(service.url);
    connection.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
    connection.write(`${(LIMIT + 1).toString(16)}\r\n${'a'.repeat(LIMIT + 1)}`);
    assert.equal(parseRaw(await connection.until(isAnswered)).status, 413, name);
    connection.close();
  }
});

test('CC-06 a caller can read the refusal of a big body', async () => {
  assertRefusal(await post(padded(20 * LIMIT)), TOO_LARGE);
});

const MB = 1_000_000;

test('CC-06 a stock client can read the refusal at 64 MB', async () => {
  const client = new OpenAI({ apiKey: app.liveKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
  const headers = { 'x-service-user': 'u' };
  const statusOf = async (megabytes: number): Promise<unknown> => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(megabytes * MB) }];
    const asked = client.chat.completions.create({ model: 'large', messages }, { headers });
    return asked.then(
      () => 'answered',
      (fault: unknown) => (fault instanceof OpenAI.APIError && fault.status) || String(fault),
    );
  };
  for (const megabytes of [4, 8, 8, 64]) {
    assert.equal(await statusOf(megabytes), 413, `${megabytes} MB`);
  }
});

test('CC-06 a sender that reads last gets the whole refusal', async () => {
  for (const isDeclared of [true, false]) {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    const faults: unknown[] = [];
    socket.on('error', (fault) => faults.push(fault));
    socket.pause();
    const framing = isDeclared ? `content-length: ${64 * MB}` : 'transfer-encoding: chunked';
    socket.write(
      `POST ${COMPLETIONS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\n${framing}\r\n\r\n`,
    );
    if (!isDeclared) socket.write(`${(64 * MB).toString(16)}\r\n`);
    const part = Buffer.alloc(MB, 'x');
    for (let sent = 0; sent < 64; sent += 1) {
      if (!socket.write(part)) await once(socket, 'drain');
    }
    if (!isDeclared) socket.write('\r\n0\r\n\r\n');
    socket.on('data', (bytes) => (text += bytes.toString('latin1')));
    socket.resume();
    await once(socket, 'close');
    const reply = parseRaw(text);
    assert.equal(reply.status, 413, text);
    assert.equal(Number(reply.headers.get('content-length')), reply.body.length);
    assert.deepEqual(faults, []);
  }
});

test('CC-06 a compressed body is refused on every route', async () => {
  const expected = { code: 'BAD_REQUEST', param: 'content-encoding', hasLink: false } as const;
  for (const encoding of ['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'identity, gzip', 'x']) {
    const headers = { 'content-encoding': encoding };
    await everyRouteRefuses(DATA_PLANE, { ...good(), headers, body: gzipSync(QUESTION) }, expected);
  }
});

test('CC-06 a body declared as not encoded is accepted', async () => {
  for (const encoding of ['identity', 'Identity']) {
    for (const route of DATA_PLANE) {
      const reply = await callRoute(route, { ...good(), headers: { 'content-encoding': encoding } });
      assert.equal(reply.status, route.status ?? 200, reply.text);
    }
  }
});

/** A body whose deepest value is on this level; the root is level 1. */
function nested(levels: number, [open, close]: readonly [string, string]): string {
  return open.repeat(levels - 1) + (open === '[' ? '[]' : '{}') + close.repeat(levels - 1);
}

const TOO_DEEP = { code: 'BAD_REQUEST', hasLink: false } as const;

test('CC-07 a body with 33 levels is refused', async () => {
  for (const brackets of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    for (const levels of [33, 34, 100_000]) {
      await everyRouteRefuses(DATA_PLANE, { ...good(), body: nested(levels, brackets) }, TOO_DEEP);
    }
  }
});

test('CC-07 a refusal for depth names depth as the reason', async () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: 'DEEP' } }];
  const request = JSON.stringify({ ...JSON.parse(QUESTION), tools });
  // `DEEP` sits on level 5: object, tools, tool, function.
  const deep = (levels: number) => request.replace('"DEEP"', nested(levels - 4, ['{"a":', '}']));
  assert.equal((await post(deep(32))).status, 200);
  const reply = await post(deep(33));
  assertRefusal(reply, { code: 'BAD_REQUEST', param: null });
  assert.match(String(reply.error['message']), /32 levels/);
});

test('CC-07 a body with 32 levels is accepted on bodyless routes', async () => {
  for (const route of DATA_PLANE.filter(({ method }) => method === 'GET')) {
    const reply = await callRoute(route, { ...good(), body: nested(32, ['[', ']']) });
    assert.equal(reply.status, route.status ?? 200, `${route.name} ${reply.text}`);
  }
});

test('CC-07 brackets inside strings are not levels', async () => {
  const content = `${'['.repeat(100)}"\\${'{'.repeat(100)}\\\\"]`;
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content }] });
  assert.equal((await post(body)).status, 200);
});

const HELLO = { role: 'user', content: 'Hello' };

/** Bodies that are not requests, with the path of the fault; null if no single field is to blame. */
const MISSHAPEN: readonly (readonly [unknown, string | null])[] = [
  ['', null],
  ['{', null],
  ['{"model":"large",}', null],
  [`${QUESTION}x`, null],
  ["{'model':'large'}", null],
  ['[]', null],
  ['null', null],
  ['"large"', null],
  ['7', null],
  [Buffer.from([0x7b, 0xff, 0x7d]), null],
  [Buffer.from(QUESTION.replace('Hello', '\u00e9'), 'latin1'), null],
  [{}, 'model'],
  [{ messages: [HELLO] }, 'model'],
  [{ model: 7, messages: [HELLO] }, 'model'],
  [{ model: '', messages: [HELLO] }, 'model'],
  [{ model: null, messages: [HELLO] }, 'model'],
  [{ model: 'large' }, 'messages'],
  [{ model: 'large', messages: null }, 'messages'],
  [{ model: 'large', messages: 'Hello' }, 'messages'],
  [{ model: 'large', messages: {} }, 'messages'],
  [{ model: 'large', messages: [] }, 'messages'],
  [{ model: 'large', messages: [HELLO, 'Hello'] }, 'messages[1]'],
  [{ model: 'large', messages: [null] }, 'messages[0]'],
  [{ model: 'large', messages: [[HELLO]] }, 'messages[0]'],
  [{ model: 'large', messages: [{ content: 'Hello' }] }, 'messages[0].role'],
  [{ model: 'large', messages: [{ role: 'robot', content: 'Hello' }] }, 'messages[0].role'],
  [{ model: 'large', messages: [{ role: 'user' }] }, 'messages[0].content'],
  [{ model: 'large', messages: [HELLO, HELLO, { role: 'user', content: null }] }, 'messages[2].content'],
  [{ model: 'large', messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
  [{ model: 'large', messages: [{ role: 'user', content: [] }] }, 'messages[0].content'],
  [{ model: 'large', messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].tool_call_id'],
  [{ model: 'large', messages: [{ role: 'user', content: ['a'] }] }, 'messages[0].content[0]'],
  [{ model: 'large', messages: [{ role: 'user', content: [{ text: 'a' }] }] }, 'messages[0].content[0].type'],
  [{ model: 'large', messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
  [
    { model: 'large', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'a' }] }] },
    'messages[0].content[0].image_url.url',
  ],
  [{ model: 'large', messages: [HELLO], stream: 'true' }, 'stream'],
  [{ model: 'large', messages: [HELLO], max_tokens: 0 }, 'max_tokens'],
  [{ model: 'large', messages: [HELLO], max_tokens: 1.5 }, 'max_tokens'],
  [{ model: 'large', messages: [HELLO], temperature: '1' }, 'temperature'],
  [{ model: 'large', messages: [HELLO], n: 0 }, 'n'],
  [{ model: 'large', messages: [HELLO], stream_options: {} }, 'stream_options'],
];

for (const [body, param] of MISSHAPEN) {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const shown = JSON.stringify(Buffer.isBuffer(body) ? body.toString('latin1') : body);
  test(`CC-07 the body ${shown.slice(0, 110)} is refused, at fault: ${param ?? 'all of it'}`, async () => {
    const requests = upstream.requests.length;
    const reply = await post(isText ? body : JSON.stringify(body));
    assertRefusal(reply, { code: 'BAD_REQUEST', param, hasLink: false });
    if (param !== null) assert.ok(String(reply.error['message']).includes(`\`${param}\``), reply.text);
    assert.equal(upstream.requests.length, requests);
  });
}
