import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startScriptedUpstream, type UpstreamScript } from '../../../../../tests/support/scripted-upstream.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { createVendorHttp, type Framing } from '#providers/transport/vendor-fetch.ts';

interface Ask {
  readonly bytesMax?: number;
  readonly framing?: Framing;
  readonly checkBody?: (body: string) => void;
  readonly signal?: AbortSignal;
}

async function stageOf(t: TestContext, script: UpstreamScript) {
  const upstream = await startScriptedUpstream();
  upstream.script(script);
  const http = createVendorHttp();
  t.after(async () => {
    http.close();
    await upstream.close();
  });
  const ask = ({ bytesMax, framing = 'events', checkBody = () => {}, signal }: Ask = {}): Promise<Response> => {
    const fetch = http.fetchFor({ bytesMax, framing, checkBody });
    const headers = { 'x-api-key': 'k', cookie: 'c' };
    return fetch(`${upstream.baseUrl}/messages`, { method: 'POST', body: '{}', headers, ...(signal && { signal }) });
  };
  return { upstream, ask };
}

const isFailure = (kind: string) => (fault: unknown) => fault instanceof UpstreamError && fault.kind === kind;

test('CC-09 a vendor’s redirect is a failure and is not followed', async (t) => {
  const { upstream, ask } = await stageOf(t, { status: 307, headers: { location: '/v1/elsewhere' }, body: '' });
  await assert.rejects(ask(), isFailure('refused'));
  assert.equal(upstream.requests.length, 1);
});

test('WA-07 a throwing body check stops the call unsent', async (t) => {
  const { upstream, ask } = await stageOf(t, { body: '{}' });
  const fault = new Error('no');
  const checkBody = (): never => {
    throw fault;
  };
  await assert.rejects(ask({ checkBody }), fault);
  await assert.rejects(ask({ signal: AbortSignal.abort() }), isFailure('unsent'));
  assert.equal(upstream.requests.length, 0);
});

test('CC-09 a plain body is read up to exactly the limit', async (t) => {
  const { ask } = await stageOf(t, { body: 'a'.repeat(100_000) });
  assert.equal((await (await ask({ bytesMax: 100_000 })).text()).length, 100_000);
  await assert.rejects((await ask({ bytesMax: 99_999 })).text(), isFailure('malformed'));
});

const PIECE = { write: 'a'.repeat(64 * 1024) };
const LINES = `data: ${'a'.repeat(1017)}\n`.repeat(63);
const bodyOf = (text: string): UpstreamScript['body'] => Array.from({ length: 64 }, () => ({ write: text }));

test('CC-09 an endless event is given up, a long stream not', async (t) => {
  const { upstream, ask } = await stageOf(t, { body: Array.from({ length: 64 }, () => PIECE) });
  await assert.rejects((await ask()).text(), isFailure('too-large'));
  upstream.script({ body: bodyOf(LINES) });
  await assert.rejects((await ask()).text(), isFailure('too-large'));
  for (const end of ['\n', '\r\n']) {
    upstream.script({ body: bodyOf(LINES + end) });
    assert.equal((await (await ask()).text()).length, 64 * (LINES + end).length);
  }
});

function frames(count: number, length: number, claimed = length): Buffer {
  const one = Buffer.alloc(length, 7);
  one.writeUInt32BE(claimed);
  return Buffer.concat(Array.from({ length: count }, () => one));
}

test('CC-09 an oversized frame is given up, a long stream not', async (t) => {
  const whole = frames(5_000, 997);
  const { upstream, ask } = await stageOf(t, {
    body: [{ write: whole.subarray(0, 1_001) }, { write: whole.subarray(1_001) }],
  });
  assert.equal((await (await ask({ framing: 'frames' })).arrayBuffer()).byteLength, whole.length);
  for (const claimed of [2 ** 20 + 1, 3]) {
    upstream.script({ body: [{ write: frames(1, 16, claimed) }, { hang: true }] });
    await assert.rejects((await ask({ framing: 'frames' })).arrayBuffer(), isFailure('too-large'));
  }
});

test('CC-09 a failed connection is an outage, before or during a body', async (t) => {
  const { upstream, ask } = await stageOf(t, { body: [{ destroy: true }] });
  await assert.rejects(ask(), isFailure('outage'));
  upstream.script({ body: [{ write: 'data: 1\n\n' }, { destroy: true }] });
  await assert.rejects((await ask()).text(), isFailure('outage'));
  upstream.script({ body: [{ write: 'data: 1\n\n' }, { hang: true }] });
  const caller = new AbortController();
  const reading = (await ask({ signal: caller.signal })).text();
  caller.abort();
  await assert.rejects(reading, { name: 'AbortError' });
});

test('MO-09 calls use the environment’s proxies, except for excluded hosts', async (t) => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  proxy.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const http = createVendorHttp({ HTTP_PROXY: origin, HTTPS_PROXY: origin, NO_PROXY: 'excepted.test' });
  t.after(async () => {
    http.close();
    proxy.closeAllConnections();
    proxy.close();
    await once(proxy, 'close');
  });
  const ask = http.fetchFor({ bytesMax: 100, framing: 'events', checkBody: () => {} });
  const post = { method: 'POST', body: '{}' };
  await assert.rejects(ask('http://vendor.test/v1', post), isFailure('outage'));
  await assert.rejects(ask('https://api.excepted.test/v1', post), isFailure('outage'));
  await assert.rejects(ask('https://vendor.test/v1', post), isFailure('outage'));
  await ask(`${origin}/direct`, post);
  assert.deepEqual(seen, ['CONNECT vendor.test:80', 'CONNECT vendor.test:443', 'POST /direct']);
});
