// Providers are reached over TLS: whom a call is sent to is who the address names, or nobody.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates, type TlsOptions, type TLSSocket } from 'node:tls';
import { UpstreamError } from '../../packages/service/src/providers/provider.ts';
import { createUpstreamHttp } from '../../packages/service/src/providers/upstream-http.ts';
import { TEST_CERTIFICATE } from '../support/mail-server.ts';
import { answerBytes, type RawRequest, startRawProvider } from '../support/raw-provider.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readerOf } from '../support/read-answer.ts';

const LIMITS = { msMax: 30_000, bytesMax: 1_000_000 };
const TLS: TlsOptions = { ...TEST_CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] };
/** The one that the certificate is for. */
const NAMED = '127.0.0.2';
const ANSWERING = ({ socket, text }: RawRequest): void => void socket.write(answerBytes(text.slice(-2)));

async function sceneOf(t: TestContext, host = NAMED, answer = ANSWERING) {
  const provider = await startRawProvider({ t, host, answer, tls: TLS });
  const http = createUpstreamHttp();
  t.after(http.close);
  return { ...provider, endpoint: http.endpoint(provider.url, {}) };
}

/** Its certificate is trusted from now on, for the rest of the test. */
function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, TEST_CERTIFICATE.cert]);
  t.after(() => setDefaultCACertificates(before));
}

function isOutage(fault: unknown): boolean {
  return fault instanceof UpstreamError && fault.kind === 'outage';
}

test('CC-13 a provider whose certificate nobody has signed gets nothing, however often it is tried', async (t) => {
  const { endpoint, requests } = await sceneOf(t);
  for (let time = 0; time < 3; time += 1) await assert.rejects(endpoint.whole('{}', LIMITS), isOutage);
  assert.equal(requests.length, 0);
});

test('CC-13 a provider with the certificate of another gets nothing, however often it is tried', async (t) => {
  trust(t);
  const { endpoint, requests } = await sceneOf(t, '127.0.0.1');
  for (let time = 0; time < 3; time += 1) await assert.rejects(endpoint.whole('{}', LIMITS), isOutage);
  assert.equal(requests.length, 0);
});

test('CC-13 a provider is called over TLS, in HTTP/1.1, on one connection', async (t) => {
  trust(t);
  const { endpoint, requests, connections } = await sceneOf(t);
  for (let time = 10; time < 20; time += 1) {
    assert.equal((await endpoint.whole(String(time), LIMITS)).text, String(time));
  }
  const read = readerOf(await endpoint.open('ok', { silenceMsMax: 30_000, signal: new AbortController().signal }));
  assert.equal(await read(), 'ok');
  assert.equal(await read(), undefined);
  assert.equal(connections(), 1);
  assert.deepEqual(
    requests.map(({ socket }) => (socket as TLSSocket).alpnProtocol),
    Array(11).fill('http/1.1'),
  );
});

test('CC-13 a second connection goes on with the session of the first', async (t) => {
  trust(t);
  const reused: boolean[] = [];
  const { endpoint, sockets } = await sceneOf(t, NAMED, (request) => {
    reused.push((request.socket as TLSSocket).isSessionReused());
    ANSWERING(request);
  });
  await endpoint.whole('{}', LIMITS);
  sockets()[0]?.end();
  await waitUntil('the connection is closed', () => sockets().length === 0);
  await endpoint.whole('{}', LIMITS);
  assert.deepEqual(reused, [false, true]);
});

test('CC-11 what waits of a provider’s answer over TLS is bounded, and nothing of it is lost', async (t) => {
  trust(t);
  const bytes = 8 * 1024 * 1024;
  const { endpoint } = await sceneOf(t, NAMED, ({ socket }) => void socket.write(answerBytes('x'.repeat(bytes))));
  const answer = await endpoint.open('{}', { silenceMsMax: 30_000, signal: new AbortController().signal });
  let most = 0;
  const next = readerOf(answer);
  let read = 0;
  let reads = 0;
  for (let text = await next(); text !== undefined; text = await next()) {
    read += text.length;
    most = Math.max(most, text.length);
    reads += 1;
    if (reads < 4) await pause(100);
  }
  assert.equal(read, bytes);
  assert.ok(most > 128 * 1024 && most <= 320 * 1024, `${most} bytes waited`);
});
