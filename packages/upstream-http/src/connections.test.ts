// Each response belongs to one request, no matter what the upstream sends. A mix-up would charge one caller for another's call.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createHttpClient, type Endpoint, RequestError } from './client.ts';
import { responseBytes, type RawServer, type RawRequest, startRawServer } from './testing/raw-server.ts';
import { waitUntil } from './testing/wait-until.ts';
import { bodyReader } from './testing/read-body.ts';
import { turns } from './testing/turn.ts';

const LIMITS = { timeoutMs: 30_000, bytesMax: 1_000_000 };
const FOREVER = { silenceMsMax: 600_000, signal: new AbortController().signal };

interface Scene extends RawServer, Endpoint {
  /** The text of a buffered response. */
  readonly ask: (body?: string) => Promise<string | undefined>;
}

/** An upstream, and a client with an endpoint that leads to it. */
async function sceneOf(t: TestContext, respond: (request: RawRequest) => void): Promise<Scene> {
  const server = await startRawServer({ t, respond });
  const http = createHttpClient();
  t.after(http.close);
  const endpoint = http.endpoint(server.url, { 'x-own': 'header' });
  const ask = async (body = '{}') => (await endpoint.postBuffered(body, LIMITS)).text;
  return { ...server, ...endpoint, ask };
}

/** Reads a streamed response to its end. */
async function readAll({ postStreamed }: Endpoint): Promise<void> {
  const read = bodyReader(await postStreamed('{}', FOREVER));
  while ((await read()) !== undefined);
}

function isError(kind: RequestError['kind']) {
  return (fault: unknown) => {
    assert.ok(fault instanceof RequestError && !String(fault.cause).includes('CANARY'));
    assert.equal(fault.kind, kind);
    return true;
  };
}

/** Sends the first response to the first request, and so on; the last one to all others. */
function responding(...responses: readonly string[]): (request: RawRequest) => void {
  let index = 0;
  return ({ socket }) => {
    socket.write(responses[Math.min(index, responses.length - 1)] ?? '', 'latin1');
    index += 1;
  };
}

test('CC-13 idle connections close sooner than the upstream has closed one', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const scene = await sceneOf(t, responding(responseBytes('ok', 'keep-alive: timeout=600\r\n')));
  await scene.ask();
  await turns();
  t.mock.timers.tick(600);
  scene.sockets()[0]?.end();
  await waitUntil('the upstream has closed the connection', () => scene.clients[0]?.destroyed);
  await scene.ask();
  await turns();
  const second = scene.clients[1];
  t.mock.timers.tick(200);
  assert.equal(second?.destroyed, false);
  t.mock.timers.tick(100);
  assert.equal(second?.destroyed, true, 'after half of that time');
  assert.equal(scene.connections(), 2);
});

test('CC-13 a request has its headers and byte length', async (t) => {
  const scene = await sceneOf(t, responding(responseBytes('ok')));
  await scene.ask('plain');
  await scene.ask('Größe \u{1F600}');
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${scene.url.host}\r\nconnection: keep-alive\r\nx-own: header\r\n`;
  const texts = scene.requests.map(({ text }) => Buffer.from(text, 'latin1').toString());
  assert.deepEqual(texts, [
    `${head}content-length: 5\r\n\r\nplain`,
    `${head}content-length: 12\r\n\r\nGröße \u{1F600}`,
  ]);
});

test('CC-13 a request with invalid headers is never sent', async (t) => {
  const { url, requests } = await sceneOf(t, responding(responseBytes('ok')));
  const http = createHttpClient();
  t.after(http.close);
  for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a': 'b\0' }, { 'x a': 'b' }, { 'x-a': 'ö' }, { '': 'b' }]) {
    await assert.rejects(http.endpoint(url, headers).postBuffered('{}', LIMITS), isError('invalid'));
  }
  assert.equal(requests.length, 0);
});

test('CC-11 a connection serves one request at a time', async (t) => {
  const scene = await sceneOf(t, ({ socket, text }) => {
    setImmediate(() => socket.write(responseBytes(text.slice(-1))));
  });
  const letters = 'abcdefgh'.split('');
  for (let round = 0; round < 3; round += 1) {
    assert.deepEqual(await Promise.all(letters.map((letter) => scene.ask(letter))), letters);
  }
  assert.equal(scene.connections(), letters.length);
  for (const letter of letters) assert.equal(await scene.ask(letter), letter);
  assert.equal(scene.connections(), letters.length);
});

const LAST_RESPONSES: readonly (readonly [what: string, bytes: string])[] = [
  ['with bytes behind its end', `${responseBytes('first')}${responseBytes('CANARY')}`],
  ['that announces the end of its connection', responseBytes('first', 'connection: close\r\n')],
  ['whose upstream keeps connections for two seconds', responseBytes('first', 'keep-alive: timeout=2\r\n')],
  ['in HTTP/1.0', responseBytes('first').replace('1.1', '1.0')],
];

for (const [what, bytes] of LAST_RESPONSES) {
  test(`CC-11 a response ${what} is accepted, and the next request reconnects`, async (t) => {
    const scene = await sceneOf(t, responding(bytes, responseBytes('second')));
    assert.equal(await scene.ask(), 'first');
    assert.equal(await scene.ask(), 'second');
    assert.deepEqual(
      scene.requests.map(({ connection }) => connection),
      [0, 1],
    );
  });
}

test('CC-11 unsolicited upstream bytes are no response', async (t) => {
  const scene = await sceneOf(t, responding(responseBytes('first'), responseBytes('second')));
  assert.equal(await scene.ask(), 'first');
  scene.sockets()[0]?.write(responseBytes('CANARY'));
  await scene.heard();
  assert.equal(await scene.ask(), 'second');
  assert.deepEqual(
    scene.requests.map(({ connection }) => connection),
    [0, 1],
  );
});

test('CC-11 a connection paused until its response was complete is reused', async (t) => {
  // The last byte is the one above the limit, so that the connection is paused and freed in the same read.
  const long = 'x'.repeat(256 * 1024 + 1);
  const scene = await sceneOf(t, responding(responseBytes(long), responseBytes('second')));
  const read = bodyReader(await scene.postStreamed('{}', FOREVER));
  await scene.heard();
  let text = '';
  for (let part = await read(); part !== undefined; part = await read()) text += part;
  assert.equal(text.length, long.length);
  assert.equal((await scene.postBuffered('{}', { timeoutMs: 5_000, bytesMax: 100 })).text, 'second');
  assert.equal(scene.connections(), 1);
});

test('CC-11 bytes written after a response are not taken for another', async (t) => {
  let hasFollowed = false;
  const scene = await sceneOf(t, ({ socket, connection }) => {
    socket.write(responseBytes(connection === 0 ? 'first' : 'second'));
    if (connection === 0) setImmediate(() => (hasFollowed = socket.write(responseBytes('CANARY'))));
  });
  assert.equal(await scene.ask(), 'first');
  await waitUntil('the bytes have followed', () => hasFollowed);
  await scene.heard();
  assert.equal(await scene.ask(), 'second');
});

test('CC-11 an idle connection closed upstream is not used', async (t) => {
  const scene = await sceneOf(t, ({ socket, text }) => {
    if (text.endsWith('leave')) socket.destroy();
    else socket.write(responseBytes('ok'));
  });
  assert.equal(await scene.ask(), 'ok');
  scene.sockets()[0]?.end();
  await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  assert.equal(await scene.ask(), 'ok');
  assert.equal(scene.connections(), 2);
  await assert.rejects(scene.ask('leave'), isError('connection'));
  assert.equal(await scene.ask(), 'ok', 'this one would have come after a second request');
  assert.equal(scene.requests.length, 4);
  assert.equal(scene.connections(), 3);
});

const STRANGE: readonly (readonly [what: string, bytes: string])[] = [
  ['bytes that are not HTTP', 'CANARY CANARY\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  [
    'a chunk that is longer than its size',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nCANARY\r\n0\r\n\r\n',
  ],
  ['a switch to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: CANARY\r\n\r\n'],
];

for (const [what, bytes] of STRANGE) {
  test(`CC-09 a response with ${what} is a protocol error`, async (t) => {
    const scene = await sceneOf(t, responding(bytes));
    await assert.rejects(scene.ask(), isError('protocol'));
    await assert.rejects(readAll(scene), isError('protocol'));
    await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  });
}

test('CC-09 a body that is not UTF-8 fails', async (t) => {
  for (const bytes of ['CANARY\xff', 'CANARY\xe2\x82']) {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes}`;
    const scene = await sceneOf(t, responding(answer));
    await assert.rejects(scene.ask(), isError('body'));
    await assert.rejects(readAll(scene), isError('body'));
  }
});

test('CC-09 a body that is too large is not read on', async (t) => {
  const scene = await sceneOf(t, responding(responseBytes('x'.repeat(101))));
  const { isCut, text } = await scene.postBuffered('{}', { timeoutMs: 30_000, bytesMax: 100 });
  assert.deepEqual([isCut, text?.length], [true, 100]);
  await waitUntil('the connection is closed', () => scene.sockets().length === 0);
});

test('CC-11 a response breaking off is read, then fails', async (t) => {
  const scene = await sceneOf(t, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart'));
  const read = bodyReader(await scene.postStreamed('{}', FOREVER));
  await waitUntil('the connection has ended', () => scene.sockets().length === 0);
  assert.equal(await read(), 'part');
  await assert.rejects(read(), isError('connection'));
});

test('CC-11 a response without a length ends by close, not reset', async (t) => {
  const scene = await sceneOf(t, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
  assert.equal(await scene.ask(), 'all of it');
  const resetting = await sceneOf(t, responding('HTTP/1.1 200 OK\r\n\r\npart'));
  const failed = assert.rejects(resetting.ask(), isError('connection'));
  await resetting.heard();
  resetting.sockets()[0]?.resetAndDestroy();
  await failed;
});

test('CC-11 requests fail with an unreachable upstream or a closed client', async (t) => {
  const http = createHttpClient();
  const { url, requests } = await sceneOf(t, () => {});
  await assert.rejects(
    http.endpoint(new URL('http://127.0.0.1:1'), {}).postBuffered('{}', LIMITS),
    isError('connection'),
  );
  await assert.rejects(
    http.endpoint(new URL('http://no-such-name.invalid'), {}).postBuffered('{}', LIMITS),
    isError('connection'),
  );
  const endpoint = http.endpoint(url, {});
  const underWay = endpoint.postBuffered('{}', LIMITS);
  const failed = assert.rejects(underWay, isError('closed'));
  await waitUntil('the request is there', () => requests.length === 1);
  const queued = assert.rejects(endpoint.postBuffered('{}', LIMITS), isError('closed'));
  http.close();
  await Promise.all([failed, queued]);
  await assert.rejects(endpoint.postBuffered('{}', LIMITS), isError('closed'));
  assert.equal(requests.length, 1);
});

test('CC-11 a request fails if `connect` itself throws', async (t) => {
  const { ask } = await sceneOf(t, () => {});
  t.mock.method(Socket.prototype, 'connect', () => {
    throw new RangeError('no such port');
  });
  await assert.rejects(ask(), isError('connection'));
});

test('CC-11 no connection with an unfinished request is reused', async (t) => {
  let isFirst = true;
  const server = await startRawServer({
    t,
    respond: ({ socket }) => void socket.write(responseBytes('second')),
    onConnection: (socket) => {
      if (isFirst) socket.pause();
      isFirst = false;
    },
  });
  const http = createHttpClient();
  t.after(http.close);
  const endpoint = http.endpoint(server.url, {});
  const first = endpoint.postBuffered('x'.repeat(32 * 1024 * 1024), LIMITS);
  const isWriting = () => server.clients.some((client) => client.writableLength > 0) && server.sockets()[0];
  (await waitUntil('the request is being written', isWriting)).write(responseBytes('first'));
  assert.equal((await first).text, 'first');
  assert.equal((await endpoint.postBuffered('{}', LIMITS)).text, 'second');
  assert.equal(server.connections(), 2);
});

test('CC-11 a dual-stack host is reached if only one address listens', async (t) => {
  const { url } = await sceneOf(t, responding(responseBytes('ok')));
  const http = createHttpClient();
  t.after(http.close);
  const { port } = url;
  const { text } = await http.endpoint(new URL(`http://localhost:${port}/`), {}).postBuffered('{}', LIMITS);
  assert.equal(text, 'ok');
});

test('CC-11 an upstream is reached by an IPv6 address', async (t) => {
  const server = await startRawServer({ t, host: '::1', respond: responding(responseBytes('ok')) });
  const http = createHttpClient();
  t.after(http.close);
  assert.equal((await http.endpoint(server.url, {}).postBuffered('{}', LIMITS)).text, 'ok');
  assert.match(server.requests[0]?.text ?? '', new RegExp(`\r\nhost: \\[::1\\]:${server.url.port}\r\n`));
});
