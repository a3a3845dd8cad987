import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createHttpClient, type HttpClient, RequestError } from './client.ts';
import { responseBytes, startRawServer } from './testing/raw-server.ts';
import { bodyReader } from './testing/read-body.ts';
import { turns } from './testing/turn.ts';

/** Responds to one request on each connection. Closes it when `signal[0]` is set, even if the main thread is busy. */
const UPSTREAM = `
  const { createServer } = require('node:net');
  const { parentPort, workerData: signal } = require('node:worker_threads');
  const server = createServer((socket) => {
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      if (requests > 1) return Atomics.add(signal, 1, 1);
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok', () => {
        Atomics.wait(signal, 0, 0);
        socket.destroy();
        Atomics.store(signal, 2, 1);
        Atomics.notify(signal, 2);
      });
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Holds this thread up for longer than an aborted request waits for news of its connection. */
function stall(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}

/** An upstream in a thread of its own, and a kept connection to it. */
async function connectTo(t: TestContext, http: HttpClient) {
  const signal = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(UPSTREAM, { eval: true, workerData: signal });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const endpoint = http.endpoint(new URL(`http://127.0.0.1:${port}`), {});
  const post = (signal: AbortSignal) => endpoint.postStreamed('{}', { silenceMsMax: 10_000, signal });
  const read = bodyReader(await post(new AbortController().signal));
  while ((await read()) !== undefined);
  return {
    post,
    /** Closes the connection. When this returns, the socket in this thread has not reported it yet. */
    closeUnheard: () => {
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
      Atomics.wait(signal, 2, 0);
      stall(); // The kernel brings the end, and this thread must not look for it.
    },
    isSecondRequestSeen: () => signal[1] !== 0,
  };
}

test('CC-11 a request aborted on a closed connection was never received', async (t) => {
  const http = createHttpClient();
  t.after(http.close);
  const { post, closeUnheard, isSecondRequestSeen } = await connectTo(t, http);
  const caller = new AbortController();
  await turns(); // The connection is idle by now.
  // All in one turn, as in a stall of the process: the upstream closes, the request is written, its caller aborts.
  setImmediate(closeUnheard);
  const response = post(caller.signal);
  setImmediate(() => {
    caller.abort();
    stall();
  });
  await assert.rejects(response, (fault) => fault instanceof RequestError && fault.kind === 'connection');
  assert.equal(isSecondRequestSeen(), false);
});

test('CC-11 no request is written to a closed connection', async (t) => {
  const http = createHttpClient();
  t.after(http.close);
  const { post, closeUnheard } = await connectTo(t, http);
  await turns(); // The event loop has polled the sockets by now, and polls them again before the next turn.
  closeUnheard();
  const read = bodyReader(await post(new AbortController().signal));
  assert.equal(await read(), 'ok');
});

test('CC-11 a request aborted before connecting never reaches the upstream', async (t) => {
  const http = createHttpClient();
  t.after(http.close);
  const { url, requests } = await startRawServer({
    t,
    respond: ({ socket }) => void socket.write(responseBytes('ok')),
  });
  const endpoint = http.endpoint(url, {});
  const caller = new AbortController();
  const { signal } = caller;
  const response = endpoint.postStreamed('aborted', { silenceMsMax: 10_000, signal });
  setImmediate(() => caller.abort()); // While the connection is being opened.
  await assert.rejects(response, (fault) => fault instanceof RequestError && fault.kind === 'unsent');
  assert.equal((await endpoint.postBuffered('next', { timeoutMs: 30_000, bytesMax: 100 })).text, 'ok');
  assert.equal(requests.length, 1);
  assert.match(requests[0]?.text ?? '', /next$/);
});
