// Over TLS, a request goes to the host that the URL names, or to nobody.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TlsOptions, type TLSSocket } from 'node:tls';
import { createHttpClient, RequestError } from './client.ts';
import { CERTIFICATE } from './testing/certificate.ts';
import { responseBytes, type RawRequest, startRawServer } from './testing/raw-server.ts';
import { waitUntil } from './testing/wait-until.ts';
import { bodyReader } from './testing/read-body.ts';

const LIMITS = { timeoutMs: 30_000, bytesMax: 1_000_000 };
const TLS: TlsOptions = { ...CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] };
/** The host of the certificate. */
const NAMED = '127.0.0.2';
const respondOk = ({ socket, text }: RawRequest): void => void socket.write(responseBytes(text.slice(-2)));

async function sceneOf(t: TestContext, host = NAMED, respond = respondOk) {
  const server = await startRawServer({ t, host, respond, tls: TLS });
  const http = createHttpClient();
  t.after(http.close);
  return { ...server, endpoint: http.endpoint(server.url, {}) };
}

/** Trusts the certificate until the test ends. */
function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, CERTIFICATE.cert]);
  t.after(() => setDefaultCACertificates(before));
}

function isConnectionError(fault: unknown): boolean {
  return fault instanceof RequestError && fault.kind === 'connection';
}

test('CC-13 an upstream with an untrusted certificate receives no request', async (t) => {
  const { endpoint, requests } = await sceneOf(t);
  for (let time = 0; time < 3; time += 1) await assert.rejects(endpoint.postBuffered('{}', LIMITS), isConnectionError);
  assert.equal(requests.length, 0);
});

test('CC-13 an upstream with another host’s certificate receives no request', async (t) => {
  trust(t);
  const { endpoint, requests } = await sceneOf(t, '127.0.0.1');
  for (let time = 0; time < 3; time += 1) await assert.rejects(endpoint.postBuffered('{}', LIMITS), isConnectionError);
  assert.equal(requests.length, 0);
});

test('CC-13 a private authority is trusted by NODE_EXTRA_CA_CERTS or the system’s store', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'upstream-ca-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'ca.pem');
  writeFileSync(file, CERTIFICATE.cert);
  const { url } = await sceneOf(t);
  const script = `
    const { createHttpClient } = await import(${JSON.stringify(new URL('client.ts', import.meta.url).href)});
    const http = createHttpClient();
    const at = http.endpoint(new URL(${JSON.stringify(url.href)}), {});
    const said = await at.postBuffered('ok', { timeoutMs: 30_000, bytesMax: 100 }).then(({ text }) => text, ({ kind }) => kind);
    console.log(said);
    http.close();`;
  const ask = async (env: Readonly<Record<string, string>>) => {
    const words = ['--input-type=module', '-e', script];
    return (await promisify(execFile)(process.execPath, words, { env })).stdout.trim();
  };
  // This process makes the system's store, too: a file that OpenSSL is told to read.
  const answers = [{ NODE_EXTRA_CA_CERTS: file }, { NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: file }, {}].map(ask);
  assert.deepEqual(await Promise.all(answers), ['ok', 'ok', 'connection']);
});

test('CC-13 an upstream is called over TLS in HTTP/1.1', async (t) => {
  trust(t);
  const { endpoint, requests, connections } = await sceneOf(t);
  for (let time = 10; time < 20; time += 1) {
    assert.equal((await endpoint.postBuffered(String(time), LIMITS)).text, String(time));
  }
  const read = bodyReader(
    await endpoint.postStreamed('ok', { silenceMsMax: 30_000, signal: new AbortController().signal }),
  );
  assert.equal(await read(), 'ok');
  assert.equal(await read(), undefined);
  assert.equal(connections(), 1);
  assert.deepEqual(
    requests.map(({ socket }) => (socket as TLSSocket).alpnProtocol),
    Array(11).fill('http/1.1'),
  );
});

test('CC-13 a second connection resumes the first TLS session', async (t) => {
  trust(t);
  const reused: boolean[] = [];
  const { endpoint, sockets } = await sceneOf(t, NAMED, (request) => {
    reused.push((request.socket as TLSSocket).isSessionReused());
    respondOk(request);
  });
  await endpoint.postBuffered('{}', LIMITS);
  sockets()[0]?.end();
  await waitUntil('the connection is closed', () => sockets().length === 0);
  await endpoint.postBuffered('{}', LIMITS);
  assert.deepEqual(reused, [false, true]);
});

test('CC-11 an unread TLS response is held back without loss', async (t) => {
  trust(t);
  const bytes = 8 * 1024 * 1024;
  const { endpoint, clients } = await sceneOf(
    t,
    NAMED,
    ({ socket }) => void socket.write(responseBytes('x'.repeat(bytes))),
  );
  const response = await endpoint.postStreamed('{}', { silenceMsMax: 30_000, signal: new AbortController().signal });
  let most = 0;
  const next = bodyReader(response);
  let read = 0;
  let reads = 0;
  for (let text = await next(); text !== undefined; text = await next()) {
    read += text.length;
    most = Math.max(most, text.length);
    reads += 1;
    if (reads < 4) await waitUntil('the connection is paused', () => clients[0]?.isPaused());
  }
  assert.equal(read, bytes);
  assert.ok(most > 128 * 1024 && most <= 320 * 1024, `${most} bytes waited`);
});
