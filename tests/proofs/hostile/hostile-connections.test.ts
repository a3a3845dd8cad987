import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { COMPLETIONS } from '../../support/client.ts';
import { askRaw, exchangeRaw, openRaw, parseRaw } from '../../support/raw-http.ts';
import { assertEnvelope } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { upstream, service, app, newUser } = await setStage();
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});

const QUESTION = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });

/** The head of a request as bytes; each header character is one byte. */
function head(line: string, headers: readonly string[]): Buffer {
  return Buffer.from(`${[`${line} HTTP/1.1`, 'host: x', ...headers].join('\r\n')}\r\n\r\n`, 'latin1');
}

function call(user: string): Buffer {
  const keyed = [`authorization: Bearer ${app.liveKey}`, `x-service-user: ${user}`];
  return Buffer.concat([
    head(`POST ${COMPLETIONS}`, [...keyed, `content-length: ${QUESTION.length}`]),
    Buffer.from(QUESTION),
  ]);
}

function balance(user: string, ...more: readonly string[]): Buffer {
  return head('GET /balance', [`authorization: Bearer ${app.liveKey}`, `x-service-user: ${user}`, ...more]);
}

const JUNK = Buffer.from('this is no request\r\n\r\n');

test('ER-08 a refused connection is closed for good', async () => {
  const { hostname, port } = new URL(service.url);
  for (const refused of [head('CONNECT x:443', []), JUNK]) {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let isCut = false;
    socket.on('error', () => {
      isCut = true;
    });
    socket.resume();
    socket.write(Buffer.concat([refused, Buffer.alloc(500_000)]));
    await waitUntil('the connection is cut off', () => {
      if (!isCut) socket.write('x');
      return isCut;
    });
    socket.destroy();
  }
});

test('CC-08 garbage after a running call changes nothing', async () => {
  const user = await newUser(1_000_000);
  const reply = parseRaw(await exchangeText(Buffer.concat([call(user), JUNK])));
  assert.equal(reply.status, 200, reply.text);
  const charge = Number(reply.headers.get('x-service-charge-micros'));
  assert.equal((await service.wallet(app, user)).balance, 1_000_000 - charge);
});

test('ER-08 pipelined requests are answered in order', async () => {
  const user = await newUser(1_000_000);
  for (const last of [JUNK, head(`POST ${COMPLETIONS}`, ['transfer-encoding: chunked'])]) {
    const text = await exchangeText(
      Buffer.concat([balance(user), head('GET /healthz', []), last, Buffer.from('zz\r\n')]),
    );
    assert.match(parseRaw(text).body, /"balanceMicros":1000000/);
  }
});

test('CC-08 a call after a closing answer is not carried out', async () => {
  const user = await newUser(1_000_000);
  const requests = upstream.requests.length;
  const refused = Buffer.concat([head('POST /balance', ['content-length: 5']), Buffer.from('abcde')]);
  const reply = parseRaw(await exchangeText(Buffer.concat([refused, call(user)])));
  assert.equal(reply.status, 405, reply.text);
  assert.equal(reply.headers.get('connection'), 'close');
  assert.equal(reply.text.indexOf('HTTP/1.1', 1), -1, reply.text);
  await exchangeText(Buffer.concat([call(await newUser(1_000_000)), JUNK])); // By now it would have arrived.
  assert.equal(upstream.requests.length, requests + 1);
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
});

async function exchangeText(bytes: Buffer): Promise<string> {
  return (await exchangeRaw(service.url, bytes)).text;
}

/** Node checks for slow senders every 30 s by default, which would give a head 40 s. */
test('ER-08 a sender that is too slow is told so', async (t) => {
  const slow = [
    {
      name: 'no byte of a head after the first line',
      bytes: Buffer.from('GET /balance HTTP/1.1\r\n'),
      waitMsMax: 25_000,
    },
    { name: 'half a body', bytes: call('u').subarray(0, -5), waitMsMax: 60_000 },
    {
      name: 'half a chunk',
      bytes: Buffer.concat([head(`POST ${COMPLETIONS}`, ['transfer-encoding: chunked']), Buffer.from('5\r\nab')]),
      waitMsMax: 60_000,
    },
  ];
  await Promise.all(
    slow.map(async ({ name, bytes, waitMsMax }) => {
      const startedAt = performance.now();
      const connection = openRaw(service.url);
      connection.write(bytes);
      let text: string | undefined;
      void connection.closed.then((all) => (text = all));
      const reply = parseRaw(await waitUntil(`the end of ${name}`, () => text, waitMsMax));
      t.diagnostic(`${name}: ${Math.round(performance.now() - startedAt)} ms`);
      assert.equal(reply.status, 400, reply.text);
      assertEnvelope(JSON.parse(reply.body) as Record<string, unknown>, 'invalid_request_error', name);
    }),
  );
});

/** Sends the first part, waits for the refusal for slowness, and then sends the rest anyway. */
async function finishAfterRefusal(first: Buffer, rest: Buffer): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  let text = '';
  let isClosed = false;
  socket.on('error', () => {});
  socket.on('close', () => (isClosed = true));
  socket.on('end', () => socket.end());
  socket.on('data', (part) => {
    if (text === '') socket.write(rest);
    text += part.toString('latin1');
  });
  socket.write(first);
  await waitUntil('the connection is closed', () => isClosed, 60_000);
  return text;
}

test('CC-08 a call refused as too slow stays refused', async () => {
  const user = await newUser(1_000_000);
  const requests = upstream.requests.length;
  const whole = call(user);
  const bodyAt = whole.length - QUESTION.length;
  const cuts = [bodyAt - 10, bodyAt, whole.length - 5]; // In the head, after it, in the body.
  const texts = await Promise.all(cuts.map((at) => finishAfterRefusal(whole.subarray(0, at), whole.subarray(at))));
  for (const text of texts) {
    assert.equal(parseRaw(text).status, 400, text);
    assert.equal(text.indexOf('HTTP/1.1', 1), -1, text);
  }
  await exchangeText(Buffer.concat([call(await newUser(1_000_000)), JUNK])); // By now they would have arrived.
  assert.equal(upstream.requests.length, requests + 1);
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000, held: 0, openStreams: 0 });
});

/** A malformed user, a well-formed user without a wallet, and bytes that are not a header (AU-04). */
async function answerTo(user: string): Promise<{ readonly status: number; readonly body: string }> {
  return parseRaw(await exchangeText(balance(user, 'connection: close')));
}

test('AU-04 a user may contain exactly the visible characters', async () => {
  for (let byte = 0; byte <= 0xff; byte += 1) {
    const character = String.fromCharCode(byte);
    const isVisible = byte >= 0x21 && byte <= 0x7e;
    for (const user of isVisible ? [character, `a${character}`] : [`a${character}a`]) {
      const { status, body } = await answerTo(user);
      assert.equal(status, isVisible ? 402 : 400, `byte ${byte}: ${body}`);
    }
  }
});

test('AU-04 a user of the wrong length is refused', async () => {
  for (const length of [1, 2, 255, 256]) assert.equal((await answerTo('a'.repeat(length))).status, 402);
  for (const length of [0, 257, 1_000, 15_000, 20_000]) assert.equal((await answerTo('a'.repeat(length))).status, 400);
  const torn = [
    'a\r\n b',
    'a\r\n\tb',
    'a\rb',
    'a\0',
    '\0',
    'a\r\nx-service-user: a',
    'a\r\nX-Service-User: b',
    ' ',
    '\t',
    'a\u200b',
  ];
  for (const user of torn) assert.equal((await answerTo(user)).status, 400, JSON.stringify(user));
});

const OK_IDS = ['a', 'A.b_c:d-9', '0'.repeat(128)];
const BAD_IDS = [
  [
    '',
    ' ',
    'a b',
    'a,b',
    'a\tb',
    '\u001b[31mred',
    '${jndi:ldap://x/a}',
    '"}',
    "'; drop table x; --",
    '<b>',
    'a\u00e9',
    '%0d%0a',
  ],
  ['0'.repeat(129), '0'.repeat(10_000), 'a\r\nx-correlation-id: b'],
].flat();
/** One answer from each place that can answer: a route, no route, the body reader, the parser. */
const WAYS: readonly (readonly [number, (id: string) => Buffer])[] = [
  [402, (id) => balance('nobody', `x-correlation-id: ${id}`, 'connection: close')],
  [404, (id) => head('GET /nowhere', [`x-correlation-id: ${id}`, 'connection: close'])],
  [405, (id) => head('PUT /balance', [`x-correlation-id: ${id}`, 'connection: close'])],
  [413, (id) => head(`POST ${COMPLETIONS}`, [`x-correlation-id: ${id}`, 'content-length: 1048577'])],
  [400, (id) => head(`POST ${COMPLETIONS}`, [`x-correlation-id: ${id}`, 'expect: more', 'connection: close'])],
];

test('ER-02 every kind of answer returns the correlation id', async () => {
  for (const [status, request] of WAYS) {
    for (const id of [...OK_IDS, ...BAD_IDS]) {
      const reply = await askRaw(service.url, request(id));
      const given = reply.headers.get('x-correlation-id') ?? '';
      const isPassed = OK_IDS.includes(id);
      if (reply.status !== 400) assert.equal(reply.status, status, reply.text);
      if (isPassed) assert.equal(given, id);
      else assert.match(given, /^cor_[0-9A-Za-z]{22}$/, JSON.stringify(id));
    }
  }
});
