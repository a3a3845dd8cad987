// How long a provider may be silent, and what is done then.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { UpstreamError } from '../../packages/service/src/providers/provider.ts';
import { createUpstreamHttp } from '../../packages/service/src/providers/upstream-http.ts';
import { answerBytes, startRawProvider } from '../support/raw-provider.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readerOf } from '../support/read-answer.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const CHUNK = '4\r\nmore\r\n';
const { signal } = new AbortController();
const NOTHING = { msMax: 30_000, bytesMax: 1_000 };

/** A provider that says what the test has it say, a client whose time the test moves, and the state of one call. */
async function sceneOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const provider = await startRawProvider({ t, answer: () => {} });
  const http = createUpstreamHttp();
  t.after(http.close);
  return {
    ...provider,
    endpoint: http.endpoint(provider.url, {}),
    pass: (ms: number) => t.mock.timers.tick(ms),
    arrival: () => waitUntil('the request is there', () => provider.requests.at(-1)),
  };
}

/** What becomes of it, for as long as nothing has. */
function stateOf(call: Promise<unknown>): { now: string } {
  const state = { now: 'waits' };
  call.then(
    () => void (state.now = 'answered'),
    (fault: unknown) => void (state.now = fault instanceof UpstreamError ? fault.kind : String(fault)),
  );
  return state;
}

/** The state, once this turn and what it sets off are over. */
async function settled(state: { readonly now: string }): Promise<string> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  return state.now;
}

for (const silenceMsMax of [1_000, 900_000]) {
  test(`CC-11 a provider may be silent for ${silenceMsMax} ms before its head and between two parts, not longer`, async (t) => {
    const scene = await sceneOf(t);
    const opening = scene.endpoint.open('{}', { silenceMsMax, signal });
    const opened = stateOf(opening);
    const { socket } = await scene.arrival();
    scene.pass(silenceMsMax);
    assert.equal(await settled(opened), 'waits');
    socket.write(HEAD);
    const next = readerOf(await opening);
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

test('CC-11 a provider that says nothing at all is given up, and one that says to wait is waited for', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.open('{}', { silenceMsMax: 10_000, signal }));
  const { socket } = await scene.arrival();
  scene.pass(9_000);
  socket.write('HTTP/1.1 102 Processing\r\n\r\n');
  await heard();
  scene.pass(9_000);
  assert.equal(await settled(state), 'waits');
  scene.pass(1_200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 a part of a head is no sign of life', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.open('{}', { silenceMsMax: 10_000, signal }));
  const { socket } = await scene.arrival();
  scene.pass(9_000);
  socket.write('HTTP/1.1 200 OK\r\n');
  await heard();
  scene.pass(1_200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 a whole answer is there in its time, whatever has come of it by then', async (t) => {
  const scene = await sceneOf(t);
  const state = stateOf(scene.endpoint.whole('{}', { msMax: 10_000, bytesMax: 1_000 }));
  const { socket } = await scene.arrival();
  socket.write(HEAD);
  for (let part = 0; part < 10; part += 1) {
    socket.write(CHUNK);
    await heard();
    assert.equal(await settled(state), 'waits');
    scene.pass(1_000);
  }
  scene.pass(200);
  assert.equal(await settled(state), 'timeout');
});

test('CC-11 a provider that is not heard is not silent', async (t) => {
  const scene = await sceneOf(t);
  const opening = scene.endpoint.open('{}', { silenceMsMax: 10_000, signal });
  const { socket } = await scene.arrival();
  socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(512 * 1024)}`);
  const read = readerOf(await opening);
  await heard();
  scene.pass(60_000);
  assert.ok(((await read()) ?? '').length > 256 * 1024);
  let rest = 0;
  const reading = (async () => {
    for (let text = await read(); text !== undefined; text = await read()) rest += text.length;
  })();
  await heard();
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
  test(`CC-11 an idle connection is kept for ${ms} ms where the provider says ${headers.trim() || 'nothing'}`, async (t) => {
    const scene = await sceneOf(t);
    const answer = scene.endpoint.whole('{}', NOTHING);
    const { socket } = await scene.arrival();
    socket.write(answerBytes('ok', headers));
    assert.equal((await answer).text, 'ok');
    await heard();
    scene.pass(ms);
    await heard();
    assert.equal(scene.sockets().length, 1);
    scene.pass(200);
    await waitUntil('the connection is closed', () => scene.sockets().length === 0);
  });
}

/** For what was written to cross the loopback. */
async function heard(): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
}
