import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createHttpClient } from './client.ts';
import { bodyReader } from './testing/read-body.ts';

const KIBIBYTE = 1024;
/** The connection is paused above 256 KiB. One read of the socket may come on top. */
const WAITING_BYTES_MAX = 256 * KIBIBYTE + 64 * KIBIBYTE;

const http = createHttpClient();
after(http.close);

/** An upstream that sends `bytes` as fast as the client reads them. */
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

test('CC-11 an unread response is held back at a bound, and nothing of it is lost', async (t) => {
  const bytes = 32 * KIBIBYTE * KIBIBYTE;
  const { server, origin } = await flooding(bytes);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { signal } = new AbortController();
  const response = await http.endpoint(new URL(origin), {}).postStreamed('{}', { silenceMsMax: 60_000, signal });
  const next = bodyReader(response);
  let read = 0;
  let most = 0;
  let reads = 0;
  for (let part = await next(); part !== undefined; part = await next()) {
    read += part.length;
    most = Math.max(most, part.length); // Each call takes all the text that waits.
    reads += 1;
    if (reads < 5) await pause(100); // Long enough for all of it to arrive, if nothing held it back.
  }
  assert.equal(read, bytes);
  assert.ok(most > 128 * KIBIBYTE && most <= WAITING_BYTES_MAX, `${most} bytes waited`);
  t.diagnostic(`${most} bytes waited at most`);
});
