import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { createHttpClient } from './client.ts';
import { LargeBodies } from './large-bodies.ts';
import { watchClientSockets } from './testing/client-sockets.ts';
import { bodyReader } from './testing/read-body.ts';
import { waitUntil } from './testing/wait-until.ts';

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

test('CC-11 an unread response is held back without loss', async (t) => {
  const bytes = 32 * KIBIBYTE * KIBIBYTE;
  const { server, origin } = await flooding(bytes);
  const clients = watchClientSockets(t);
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
    if (reads < 5) await waitUntil('the connection is paused', () => clients[0]?.isPaused());
  }
  assert.equal(read, bytes);
  assert.ok(most > 128 * KIBIBYTE && most <= WAITING_BYTES_MAX, `${most} bytes waited`);
  t.diagnostic(`${most} bytes waited at most`);
});

test('CC-24 four large bodies are in memory at once', async (t) => {
  const bytes = 4 * KIBIBYTE * KIBIBYTE;
  const { server, origin } = await flooding(bytes);
  const largeBodies = new LargeBodies();
  const client = createHttpClient({ largeBodies });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const endpoint = client.endpoint(new URL(origin), {});
  const post = (bytesMax: number) => endpoint.postBuffered('{}', { timeoutMs: 60_000, bytesMax });
  const small = await post(KIBIBYTE);
  assert.deepEqual([small.large, small.isCut], [undefined, true]);

  let delivered = 0;
  let handled = 0;
  let most = 0;
  const held: (() => void)[] = [];
  const handle = async (): Promise<void> => {
    const { text, large } = await post(2 * bytes);
    assert.equal(text?.length, bytes);
    delivered += 1;
    await new Promise<void>((resolve) => void held.push(resolve));
    await large?.nextStep();
    handled += 1;
    for (let step = 0; step < 3; step += 1) {
      await large?.nextStep();
      most = Math.max(most, handled);
    }
    handled -= 1;
    large?.leave();
  };
  const all = Promise.all(Array.from({ length: 7 }, handle));
  await waitUntil('three wait for room', () => delivered === 4 && largeBodies.counts.outside === 3);
  assert.deepEqual(largeBodies.counts, { inside: 4, outside: 3, handled: 0 });
  for (const goOn of held.splice(0)) goOn();
  await waitUntil('the others have room', () => delivered === 7);
  for (const goOn of held.splice(0)) goOn();
  await all;
  assert.equal(most, 1, 'one at a time, from its first step to its last');
  assert.deepEqual(largeBodies.counts, { inside: 0, outside: 0, handled: 0 });
});

test('CC-24 a large body breaking off frees its room', async (t) => {
  const { server, origin } = await flooding(8 * KIBIBYTE * KIBIBYTE);
  t.after(() => server.close());
  const largeBodies = new LargeBodies();
  const client = createHttpClient({ largeBodies });
  const endpoint = client.endpoint(new URL(origin), {});
  const limits = { timeoutMs: 60_000, bytesMax: 16 * KIBIBYTE * KIBIBYTE };
  const places = Array.from({ length: 4 }, () => largeBodies.enter(() => {}));
  const waiting = Array.from({ length: 2 }, () => endpoint.postBuffered('{}', limits));
  await waitUntil('both wait', () => largeBodies.counts.outside === 2);
  places[0]?.leave();
  assert.equal(largeBodies.counts.outside, 1);
  client.close();
  for (const response of await Promise.allSettled(waiting)) {
    if (response.status === 'fulfilled') response.value.large?.leave();
  }
  for (const place of places) place.leave();
  assert.deepEqual(largeBodies.counts, { inside: 0, outside: 0, handled: 0 });
  server.closeAllConnections();
});
