import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createUpstreamHttp } from '#providers/upstream-http.ts';
import { readerOf } from '../../../../tests/support/read-answer.ts';

const KIBIBYTE = 1024;
/** The connection is paused above 256 KiB, after one read of a socket at most. */
const WAITING_BYTES_MAX = 256 * KIBIBYTE + 64 * KIBIBYTE;

const http = createUpstreamHttp();
after(http.close);

/** A provider that sends so many bytes as fast as they are taken. */
async function flooding(bytes: number): Promise<{ readonly server: Server; readonly origin: string }> {
  const part = Buffer.alloc(64 * KIBIBYTE, 'x');
  const server = createServer((request, response) => {
    request.resume();
    Readable.from(Array.from({ length: bytes / part.length }, () => part)).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('CC-11 what waits of a provider’s answer is bounded, and nothing of it is lost', async (t) => {
  const bytes = 32 * KIBIBYTE * KIBIBYTE;
  const { server, origin } = await flooding(bytes);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { signal } = new AbortController();
  const answer = await http.endpoint(new URL(origin), {}).open('{}', { silenceMsMax: 60_000, signal });
  const next = readerOf(answer);
  let read = 0;
  let most = 0;
  let reads = 0;
  for (let part = await next(); part !== undefined; part = await next()) {
    read += part.length;
    most = Math.max(most, part.length); // A read takes all that waits.
    reads += 1;
    if (reads < 5) await pause(100); // Long enough for all of it to come, if nothing stopped it.
  }
  assert.equal(read, bytes);
  assert.ok(most > 128 * KIBIBYTE && most <= WAITING_BYTES_MAX, `${most} bytes waited`);
  t.diagnostic(`${most} bytes waited at most`);
});
