// How long an upstream may be silent, and how long an idle connection is kept.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createHttpClient, RequestError } from './client.ts';
import { responseBytes, startRawServer } from './testing/raw-server.ts';
import { waitUntil } from './testing/wait-until.ts';
import { bodyReader } from './testing/read-body.ts';
import { turns } from './testing/turn.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const CHUNK = '4\r\nmore\r\n';
const { signal } = new AbortController();
const NOTHING = { timeoutMs: 30_000, bytesMax: 1_000 };

/** An upstream that writes what the test writes, and a client whose clock the test moves. */
async function sceneOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await startRawServer({ t, respond: () => {} });
  const http = createHttpClient();
  t.after(http.close);
  return {
    ...server,
    endpoint: http.endpoint(server.url, {}),
    pass: (ms: number) => t.mock.timers.tick(ms),
    arrival: () => waitUntil('the request is there', () => server.requests.at(-1)),
  };
}

/** What has become of the call; `waits` until something has. */
function stateOf(call: Promise<unknown>): { now: string } {
  const state = { now: 'waits' };
  call.then(
    () => void (state.now = 'done'),
    (fault: unknown) => void (state.now = fault instanceof RequestError ? fault.kind : String(fault)),
  );
  return state;
}

/** Returns the state once this turn and what it sets off are over. */
async function settled(state: { readonly now: string }): Promise<string> {
  await turns();
  return state.now;
}

for (const silenceMsMax of [1_000, 900_000]) {
  test(`CC-11 an upstream may be silent for at most ${silenceMsMax} ms`, async (t) => {
    const scene = await sceneOf(t);
    const opening = scene.endpoint.postStreamed('{}', { silenceMsMax, signal });
    const opened = stateOf(opening);
    const { socket } = await scene.arrival();
    scene.pass(silenceMsMax);
    assert.equal(await settled(opened), 'waits');
    socket.write(HEAD);
    const next = bodyReader(await opening);
    for (let part = 0; part < 3; part += 1) {
      const read = next();
      const state = stateOf(read);
      scene.pass(silenceMsMax);
      assert.equal(await settled(state), 'waits');
      socket.write(CHUNK);
      assert.equal(await read, 'more');
    }
    const last = stateOf(next());
    scene.pass(silenceMsMax);
    assert.equal(await settled(last), 'waits');
    scene.pass(200);
    assert.equal(await settled(last), 'timeout');
    await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  });
}

test('CC-11 a silent upstream times out, restarting at an interim response', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.postStreamed('{}', { silenceMsMax: 10_000, signal }));
  const { socket } = await scene.arrival();
  scene.pass(9_000);
  socket.write('HTTP/1.1 102 Processing\r\n\r\n');
  await scene.heard();
  scene.pass(9_000);
  assert.equal(await settled(state), 'waits');
  scene.pass(1_200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 a part of a head does not restart the timeout', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.postStreamed('{}', { silenceMsMax: 10_000, signal }));
  const { socket } = await scene.arrival();
  scene.pass(9_000);
  socket.write('HTTP/1.1 200 OK\r\n');
  await scene.heard();
  scene.pass(1_200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 a buffered response times out by the clock', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.postBuffered('{}', { timeoutMs: 10_000, bytesMax: 1_000 }));
  const { socket } = await scene.arrival();
  socket.write(HEAD);
  for (let part = 0; part < 10; part += 1) {
    socket.write(CHUNK);
    await scene.heard();
    assert.equal(await settled(state), 'waits');
    scene.pass(1_000);
  }
  scene.pass(200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 an upstream does not time out while the client pauses', async (t) => {
  const scene = await sceneOf(t);
  const opening = scene.endpoint.postStreamed('{}', { silenceMsMax: 10_000, signal });
  const { socket } = await scene.arrival();
  socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(512 * 1024)}`);
  const read = bodyReader(await opening);
  await waitUntil('the client has paused', () => scene.clients[0]?.isPaused());
  scene.pass(60_000);
  assert.ok(((await read()) ?? '').length > 256 * 1024);
  let rest = 0;
  const reading = (async () => {
    for (let text = await read(); text !== undefined; text = await read()) rest += text.length;
  })();
  await scene.heard();
  assert.ok(rest > 0);
  const state = stateOf(reading);
  scene.pass(10_200);
  assert.equal(await settled(state), 'timeout');
});

const KEPT: readonly (readonly [headers: string, ms: number])[] = [
  ['', 4_000],
  ['keep-alive: timeout=30\r\n', 28_000],
  ['keep-alive: timeout=99999\r\n', 600_000],
];

for (const [headers, ms] of KEPT) {
  test(`CC-11 an idle connection is kept for ${ms} ms if the upstream says ${headers.trim() || 'nothing'}`, async (t) => {
    const scene = await sceneOf(t);
    const response = scene.endpoint.postBuffered('{}', NOTHING);
    const { socket } = await scene.arrival();
    socket.write(responseBytes('ok', headers));
    assert.equal((await response).text, 'ok');
    await turns();
    scene.pass(ms);
    assert.equal(scene.clients[0]?.destroyed, false);
    scene.pass(200);
    await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  });
}
