// What becomes of a connection to a provider, whatever comes on it: what is charged depends on whose answer is whose.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { UpstreamError } from '../../packages/service/src/providers/provider.ts';
import { createUpstreamHttp, type Endpoint } from '../../packages/service/src/providers/upstream-http.ts';
import { answerBytes, type RawProvider, type RawRequest, startRawProvider } from '../support/raw-provider.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readerOf } from '../support/read-answer.ts';

const LIMITS = { msMax: 30_000, bytesMax: 1_000_000 };
const FOREVER = { silenceMsMax: 600_000, signal: new AbortController().signal };

interface Scene extends RawProvider, Endpoint {
  /** The text of a whole answer. */
  readonly ask: (body?: string) => Promise<string | undefined>;
}

/** A provider, and the client that speaks to it. */
async function sceneOf(t: TestContext, answer: (request: RawRequest) => void): Promise<Scene> {
  const provider = await startRawProvider({ t, answer });
  const http = createUpstreamHttp();
  t.after(http.close);
  const endpoint = http.endpoint(provider.url, { 'x-own': 'header' });
  const ask = async (body = '{}') => (await endpoint.whole(body, LIMITS)).text;
  return { ...provider, ...endpoint, ask };
}

/** The same of one that is read as it comes. */
async function readAll({ open }: Endpoint): Promise<void> {
  const read = readerOf(await open('{}', FOREVER));
  while ((await read()) !== undefined);
}

function isError(kind: UpstreamError['kind']) {
  return (fault: unknown) => {
    assert.ok(fault instanceof UpstreamError && !String(fault.cause).includes('CANARY'));
    assert.equal(fault.kind, kind);
    return true;
  };
}

/** Answers by the number of the request. */
function answering(...answers: readonly string[]): (request: RawRequest) => void {
  let index = 0;
  return ({ socket }) => {
    socket.write(answers[Math.min(index, answers.length - 1)] ?? '', 'latin1');
    index += 1;
  };
}

test('CC-13 a request is its head with what it was told, and its body by its length in bytes', async (t) => {
  const scene = await sceneOf(t, answering(answerBytes('ok')));
  await scene.ask('plain');
  await scene.ask('Größe \u{1F600}');
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${scene.url.host}\r\nconnection: keep-alive\r\nx-own: header\r\n`;
  const texts = scene.requests.map(({ text }) => Buffer.from(text, 'latin1').toString());
  assert.deepEqual(texts, [
    `${head}content-length: 5\r\n\r\nplain`,
    `${head}content-length: 12\r\n\r\nGröße \u{1F600}`,
  ]);
});

test('CC-13 what cannot be a header is sent to nobody', async (t) => {
  const { url, requests } = await sceneOf(t, answering(answerBytes('ok')));
  const http = createUpstreamHttp();
  t.after(http.close);
  for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a': 'b\0' }, { 'x a': 'b' }, { 'x-a': 'ö' }, { '': 'b' }]) {
    await assert.rejects(http.endpoint(url, headers).whole('{}', LIMITS), isError('outage'));
  }
  assert.equal(requests.length, 0);
});

test('CC-11 a connection is used again, by one request at a time', async (t) => {
  const scene = await sceneOf(t, ({ socket, text }) => {
    setTimeout(() => socket.write(answerBytes(text.slice(-1))), 5);
  });
  const letters = 'abcdefgh'.split('');
  for (let round = 0; round < 3; round += 1) {
    assert.deepEqual(await Promise.all(letters.map((letter) => scene.ask(letter))), letters);
  }
  assert.equal(scene.connections(), letters.length);
  for (const letter of letters) assert.equal(await scene.ask(letter), letter);
  assert.equal(scene.connections(), letters.length);
});

const DOUBTFUL: readonly (readonly [what: string, bytes: string])[] = [
  ['with more behind it than it says', `${answerBytes('first')}${answerBytes('CANARY')}`],
  ['that says that its connection ends', answerBytes('first', 'connection: close\r\n')],
  ['whose sender keeps connections for two seconds', answerBytes('first', 'keep-alive: timeout=2\r\n')],
  ['in the old version', answerBytes('first').replace('1.1', '1.0')],
];

for (const [what, bytes] of DOUBTFUL) {
  test(`CC-11 an answer ${what} counts, and the next request has a connection of its own`, async (t) => {
    const scene = await sceneOf(t, answering(bytes, answerBytes('second')));
    assert.equal(await scene.ask(), 'first');
    assert.equal(await scene.ask(), 'second');
    assert.deepEqual(
      scene.requests.map(({ connection }) => connection),
      [0, 1],
    );
  });
}

test('CC-11 what a provider sends unasked is nobody’s answer', async (t) => {
  const scene = await sceneOf(t, answering(answerBytes('first'), answerBytes('second')));
  assert.equal(await scene.ask(), 'first');
  scene.sockets()[0]?.write(answerBytes('CANARY'));
  await pause(50); // For it to cross the loopback.
  assert.equal(await scene.ask(), 'second');
  assert.deepEqual(
    scene.requests.map(({ connection }) => connection),
    [0, 1],
  );
});

test('CC-11 a connection whose answer waited for its reader until it was whole is used again', async (t) => {
  // The last byte is the one that is too many to wait, so that the connection pauses and is free in one read.
  const long = 'x'.repeat(256 * 1024 + 1);
  const scene = await sceneOf(t, answering(answerBytes(long), answerBytes('second')));
  const read = readerOf(await scene.open('{}', FOREVER));
  await pause(100);
  let text = '';
  for (let part = await read(); part !== undefined; part = await read()) text += part;
  assert.equal(text.length, long.length);
  assert.equal((await scene.whole('{}', { msMax: 5_000, bytesMax: 100 })).text, 'second');
  assert.equal(scene.connections(), 1);
});

test('CC-11 what comes behind an answer, in a write of its own, is nobody’s answer', async (t) => {
  const scene = await sceneOf(t, ({ socket, connection }) => {
    socket.write(answerBytes(connection === 0 ? 'first' : 'second'));
    if (connection === 0) setImmediate(() => socket.write(answerBytes('CANARY')));
  });
  assert.equal(await scene.ask(), 'first');
  await pause(20);
  assert.equal(await scene.ask(), 'second');
});

test('CC-11 a connection that the provider has closed is not used, and no request is sent twice', async (t) => {
  const scene = await sceneOf(t, ({ socket, text }) => {
    if (text.endsWith('leave')) socket.destroy();
    else socket.write(answerBytes('ok'));
  });
  assert.equal(await scene.ask(), 'ok');
  scene.sockets()[0]?.end();
  await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  assert.equal(await scene.ask(), 'ok');
  assert.equal(scene.connections(), 2);
  await assert.rejects(scene.ask('leave'), isError('outage'));
  await pause(50);
  assert.equal(scene.requests.length, 3);
  assert.equal(scene.connections(), 2);
});

const STRANGE: readonly (readonly [what: string, bytes: string])[] = [
  ['no HTTP', 'CANARY CANARY\r\n\r\n'],
  ['a length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  ['chunks of other sizes', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nCANARY\r\n0\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: CANARY\r\n\r\n'],
];

for (const [what, bytes] of STRANGE) {
  test(`CC-09 a provider that answers with ${what} is out, whole or streamed, and its connection ends`, async (t) => {
    const scene = await sceneOf(t, answering(bytes));
    await assert.rejects(scene.ask(), isError('outage'));
    await assert.rejects(readAll(scene), isError('outage'));
    await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  });
}

test('CC-09 bytes that are no UTF-8 are a malformed answer, whole or streamed, also at the end of it', async (t) => {
  for (const bytes of ['CANARY\xff', 'CANARY\xe2\x82']) {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes}`;
    const scene = await sceneOf(t, answering(answer));
    await assert.rejects(scene.ask(), isError('malformed'));
    await assert.rejects(readAll(scene), isError('malformed'));
  }
});

test('CC-09 of an answer that is too large no more is read, and of one with another status nothing', async (t) => {
  const scene = await sceneOf(
    t,
    answering(answerBytes('x'.repeat(101)), 'HTTP/1.1 500 E\r\ncontent-length: 9999\r\n\r\nCANARY'),
  );
  await assert.rejects(scene.whole('{}', { msMax: 30_000, bytesMax: 100 }), isError('malformed'));
  assert.deepEqual(await scene.whole('{}', LIMITS), { status: 500, text: undefined });
  await waitUntil('the connection is closed', () => scene.sockets().length === 0);
});

test('CC-11 an answer of which a part came is read up to there', async (t) => {
  const scene = await sceneOf(t, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart'));
  const read = readerOf(await scene.open('{}', FOREVER));
  await pause(20);
  assert.equal(await read(), 'part');
  await assert.rejects(read(), isError('outage'));
});

test('CC-11 an answer that its connection’s end ends is whole', async (t) => {
  const scene = await sceneOf(t, ({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
  assert.equal(await scene.ask(), 'all of it');
  const reset = await sceneOf(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\npart', () => setTimeout(() => socket.resetAndDestroy(), 20));
  });
  await assert.rejects(reset.ask(), isError('outage'));
});

test('CC-11 a provider that nobody reaches is out, and so is each after the end of the client', async (t) => {
  const http = createUpstreamHttp();
  const { url, requests } = await sceneOf(t, () => {});
  await assert.rejects(http.endpoint(new URL('http://127.0.0.1:1'), {}).whole('{}', LIMITS), isError('outage'));
  await assert.rejects(
    http.endpoint(new URL('http://no-such-name.invalid'), {}).whole('{}', LIMITS),
    isError('outage'),
  );
  const provider = http.endpoint(url, {});
  const underWay = provider.whole('{}', LIMITS);
  const failed = assert.rejects(underWay, isError('outage'));
  await waitUntil('the request is there', () => requests.length === 1);
  const queued = assert.rejects(provider.whole('{}', LIMITS), isError('outage'));
  http.close();
  await Promise.all([failed, queued]);
  await assert.rejects(provider.whole('{}', LIMITS), isError('outage'));
  assert.equal(requests.length, 1);
});

test('CC-11 a provider to which no connection can even be tried is out', async (t) => {
  const { ask } = await sceneOf(t, () => {});
  t.mock.method(Socket.prototype, 'connect', () => {
    throw new RangeError('no such port');
  });
  await assert.rejects(ask(), isError('outage'));
});

test('CC-11 a connection that has not taken its request is not used for the next one', async (t) => {
  let isFirst = true;
  const provider = await startRawProvider({
    t,
    answer: ({ socket }) => void socket.write(answerBytes('second')),
    // Answers before it has read anything, and goes on reading nothing.
    onConnection: (socket) => {
      if (!isFirst) return;
      isFirst = false;
      socket.pause();
      setTimeout(() => socket.write(answerBytes('first')), 50);
    },
  });
  const http = createUpstreamHttp();
  t.after(http.close);
  const endpoint = http.endpoint(provider.url, {});
  assert.equal((await endpoint.whole('x'.repeat(32 * 1024 * 1024), LIMITS)).text, 'first');
  assert.equal((await endpoint.whole('{}', LIMITS)).text, 'second');
  assert.equal(provider.connections(), 2);
});

test('CC-11 a name that has an address of each kind is reached where only one of them listens', async (t) => {
  const { url } = await sceneOf(t, answering(answerBytes('ok')));
  const http = createUpstreamHttp();
  t.after(http.close);
  const { port } = url;
  const reply = await http.endpoint(new URL(`http://localhost:${port}/`), {}).whole('{}', LIMITS);
  assert.equal(reply.text, 'ok');
});

test('CC-11 a provider is reached by an address of IPv6', async (t) => {
  const provider = await startRawProvider({ t, host: '::1', answer: answering(answerBytes('ok')) });
  const http = createUpstreamHttp();
  t.after(http.close);
  assert.equal((await http.endpoint(provider.url, {}).whole('{}', LIMITS)).text, 'ok');
  assert.match(provider.requests[0]?.text ?? '', new RegExp(`\r\nhost: \\[::1\\]:${provider.url.port}\r\n`));
});
