// Through a proxy, a request goes to the upstream and to nobody else: the proxy sees its address and no byte of it over TLS.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createServer as createTls, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createHttpClient, RequestError } from './client.ts';
import { CERTIFICATE } from './testing/certificate.ts';
import { responseBytes, type RawRequest, startRawServer } from './testing/raw-server.ts';
import { bodyReader } from './testing/read-body.ts';
import { waitUntil } from './testing/wait-until.ts';

const LIMITS = { timeoutMs: 30_000, bytesMax: 1_000_000 };
const OPENED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const respondOk = ({ socket, text }: RawRequest): void => void socket.write(responseBytes(text.slice(-2)));

/** A proxy that opens tunnels after `answer`. It keeps what it was asked and all that went through. */
async function startProxy(t: TestContext, answer: readonly string[] = [OPENED], isTls = false) {
  const asked: string[] = [];
  const passed: string[] = [];
  const open = new Set<Socket>();
  const serve = (caller: Socket): void => {
    open.add(caller);
    caller.on('error', () => {});
    caller.once('data', (head) => {
      asked.push(head.toString('latin1'));
      for (const part of answer) caller.write(part);
      if (answer.join('') !== OPENED) return;
      const [, host, port] = /^CONNECT ([\d.]+):(\d+) /.exec(asked.at(-1) ?? '') ?? [];
      const upstream = connect(Number(port), host);
      open.add(upstream);
      upstream.on('error', () => {});
      caller.on('data', (bytes) => void passed.push(bytes.toString('latin1')));
      caller.pipe(upstream).pipe(caller);
    });
  };
  const host = isTls ? '127.0.0.2' : '127.0.0.1';
  const server = isTls ? createTls(CERTIFICATE, serve) : createServer(serve);
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, passed, open, proxy: { isTls, host, port, authorization: 'Basic bWU6cHc=' } };
}

interface Scene {
  /** Whether the upstream speaks TLS, and then whether the proxy does. */
  readonly isTls?: boolean;
  readonly isProxyTls?: boolean;
  readonly answer?: readonly string[];
}

async function sceneOf(t: TestContext, { isTls = false, isProxyTls = false, answer }: Scene = {}) {
  const tunnels = await startProxy(t, answer, isProxyTls);
  const tls = isTls ? { tls: CERTIFICATE, host: '127.0.0.2' } : {};
  const server = await startRawServer({ t, respond: respondOk, ...tls });
  const http = createHttpClient({ findProxy: () => tunnels.proxy });
  t.after(http.close);
  return { ...tunnels, ...server, endpoint: http.endpoint(server.url, {}) };
}

for (const [isTls, isProxyTls] of [
  [false, false],
  [true, false],
  [true, true],
] as const) {
  const kinds = `${isTls ? 'with' : 'without'} TLS by a proxy ${isProxyTls ? 'with' : 'without'} it`;
  test(`CC-13 calls go through one tunnel ${kinds}, which is kept`, async (t) => {
    if (isTls) {
      const before = getCACertificates('default');
      setDefaultCACertificates([...before, CERTIFICATE.cert]);
      t.after(() => setDefaultCACertificates(before));
    }
    const { endpoint, url, asked, passed, connections } = await sceneOf(t, {
      isTls,
      isProxyTls,
      answer: [OPENED.slice(0, 9), OPENED.slice(9)],
    });
    for (const body of ['10', '11']) assert.equal((await endpoint.postBuffered(body, LIMITS)).text, body);
    const { signal } = new AbortController();
    const read = bodyReader(await endpoint.postStreamed('ok', { silenceMsMax: 30_000, signal }));
    assert.deepEqual([await read(), await read()], ['ok', undefined]);
    assert.equal(connections(), 1);
    assert.deepEqual(asked, [
      `CONNECT ${url.host} HTTP/1.1\r\nhost: ${url.host}\r\nproxy-authorization: Basic bWU6cHc=\r\n\r\n`,
    ]);
    assert.equal(passed.join('').includes('POST '), !isTls);
    assert.ok(!passed.join('').includes('proxy-authorization'));
  });
}

test('CC-13 an upstream behind an untrusted proxy receives no request', async (t) => {
  const { endpoint, requests } = await sceneOf(t, { isTls: true });
  await assert.rejects(
    endpoint.postBuffered('{}', LIMITS),
    (fault) => fault instanceof RequestError && fault.kind === 'connection',
  );
  assert.equal(requests.length, 0);
});

test('CC-09 ER-03 a proxy that opens no tunnel is a connection failure', async (t) => {
  const cases = [
    [['HTTP/1.1 407 SECRET\r\nx: SECRET\r\n\r\n'], /opened no connection to the upstream \(407\)\.$/],
    [['SSH-2.0-SECRET\r\n\r\n'], /did not send an HTTP response\.$/],
    [['x'.repeat(20_000)], /did not send an HTTP response\.$/],
    [[`${OPENED}HTTP/1.1 200 OK\r\n\r\n`], /sent bytes before the upstream was asked\.$/],
  ] as const;
  for (const [answer, words] of cases) {
    const { endpoint, requests } = await sceneOf(t, { answer });
    await assert.rejects(
      endpoint.postBuffered('{}', LIMITS),
      (fault) => fault instanceof RequestError && fault.kind === 'connection' && words.test(fault.message),
    );
    assert.equal(requests.length, 0);
  }
});

test('CC-13 after a tunnel has ended, the next call opens another', async (t) => {
  const { endpoint, open, asked, sockets } = await sceneOf(t);
  await endpoint.postBuffered('10', LIMITS);
  for (const socket of open) socket.destroy();
  await waitUntil('the tunnel has ended', () => sockets().length === 0);
  assert.equal((await endpoint.postBuffered('11', LIMITS)).text, '11');
  assert.equal(asked.length, 2);
});
