import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpClient } from './client.ts';
import { responseBytes, startRawServer } from './testing/raw-server.ts';

const LIMITS = { timeoutMs: 30_000, bytesMax: 1_000_000 };

test('CC-13 a request adds safe headers to its endpoint’s', async (t) => {
  const server = await startRawServer({ t, respond: ({ socket }) => void socket.write(responseBytes('{}')) });
  const http = createHttpClient();
  t.after(http.close);
  const { postBuffered } = http.endpoint(server.url, { 'x-own': 'header' });
  await postBuffered('{}', { ...LIMITS, headers: { traceparent: '00-1-2-01', bad: 'a\r\nx-injected: 1' } });
  await postBuffered('{}', LIMITS);
  const [first = '', second = ''] = server.requests.map(({ text }) => text);
  assert.ok(first.endsWith('x-own: header\r\ncontent-length: 2\r\ntraceparent: 00-1-2-01\r\n\r\n{}'), first);
  assert.ok(second.endsWith('x-own: header\r\ncontent-length: 2\r\n\r\n{}'), second);
});
