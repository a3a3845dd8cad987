import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UpstreamError } from '#providers/provider.ts';
import { createUpstreamHttp, type UpstreamHttp } from '#providers/upstream-http.ts';
import { readerOf } from '../../../../tests/support/read-answer.ts';

/** Answers one request on each connection and closes it at the second byte of `signal`, whatever this thread does. */
const PROVIDER = `
  const { createServer } = require('node:net');
  const { parentPort, workerData: signal } = require('node:worker_threads');
  const server = createServer((socket) => {
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      if (requests > 1) return Atomics.add(signal, 1, 1);
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok');
      setTimeout(() => {
        Atomics.wait(signal, 0, 0, 5_000);
        socket.destroy();
        Atomics.store(signal, 2, 1);
        Atomics.notify(signal, 2);
      }, 20);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** A provider in a thread of its own, to which this one has a kept connection. */
async function connectTo(t: TestContext, http: UpstreamHttp) {
  const signal = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(PROVIDER, { eval: true, workerData: signal });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const provider = http.endpoint(new URL(`http://127.0.0.1:${port}`), {});
  const post = (signal: AbortSignal) => provider.open('{}', { silenceMsMax: 10_000, signal });
  const read = readerOf(await post(new AbortController().signal));
  while ((await read()) !== undefined);
  return {
    post,
    /** Closes the connection, so that this thread has not heard of it when this returns. */
    closeUnheard: () => {
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
      Atomics.wait(signal, 2, 0, 5_000);
      Atomics.wait(signal, 2, 1, 50); // For the end to cross the loopback.
    },
    isSecondRequestSeen: () => signal[1] !== 0,
  };
}

test('CC-11 a call that is given up on a connection that the provider had closed never got there', async (t) => {
  const http = createUpstreamHttp();
  t.after(http.close);
  const { post, closeUnheard, isSecondRequestSeen } = await connectTo(t, http);
  await new Promise((resolve) => setTimeout(resolve, 40)); // For the provider to wait for the signal.
  const caller = new AbortController();
  // In one turn, as after a process stood still: the provider closes, the request is written, its caller leaves.
  setImmediate(closeUnheard);
  const answer = post(caller.signal);
  setImmediate(() => caller.abort());
  await assert.rejects(answer, (fault) => fault instanceof UpstreamError && fault.kind === 'outage');
  assert.equal(isSecondRequestSeen(), false);
});

test('CC-11 a call is not sent on a connection that the provider had closed, though nobody has heard of it yet', async (t) => {
  const http = createUpstreamHttp();
  t.after(http.close);
  const { post, closeUnheard } = await connectTo(t, http);
  await new Promise((resolve) => setTimeout(resolve, 40)); // For the provider to wait for the signal.
  // After what has come is heard: before the next turn it is heard again.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  closeUnheard();
  const read = readerOf(await post(new AbortController().signal));
  assert.equal(await read(), 'ok');
});

test('CC-11 a call that is given up before it has a connection never reaches the provider', async (t) => {
  const http = createUpstreamHttp();
  t.after(http.close);
  let requests = 0;
  const server = createServer(() => void (requests += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const caller = new AbortController();
  const { signal } = caller;
  const isConnected = once(server, 'connection');
  const answer = http.endpoint(new URL(origin), {}).open('{}', { silenceMsMax: 10_000, signal });
  setImmediate(() => caller.abort()); // When the connection is being opened.
  await assert.rejects(answer, (fault) => fault instanceof UpstreamError && fault.kind === 'unsent');
  await isConnected;
  await pause(200); // For a request to come after it.
  assert.equal(requests, 0);
});
