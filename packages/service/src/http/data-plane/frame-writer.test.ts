import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { chatReply } from '#gateway/wires/chat/chat.ts';
import { createFrameWriter } from '#http/data-plane/frame-writer.ts';
import { type CorrelationId, newCallId } from '#kernel/values/ids.ts';
import { refuse } from '#kernel/faults/refusal.ts';

const CORRELATION_ID = 'frames-1' as CorrelationId;
const CALL = {
  callId: newCallId(),
  model: { id: 'large' },
  outputTokensAsked: 100,
  wantsUsage: false,
  prompt: { tokensEstimated: 9 },
};
const FRAMES = ['data: one\n\n', 'data: zwölf ☃ \u{1f600}\n\n', 'data: end\n\n'];
/** This is more than the kernel buffers for a reader who reads nothing. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

/** How a socket takes several pieces at once. */
interface Vectored {
  readonly _writev: (pieces: readonly { readonly chunk: unknown }[], callback: () => void) => void;
}

/** A caller on its own socket; `answer` answers each of their requests. */
async function callerOf(t: TestContext, answer: (response: ServerResponse, path: string) => Promise<void>) {
  const server = createServer((request, response) => {
    response.sendDate = false;
    response.writeHead(200, { 'content-type': 'text/plain' });
    void answer(response, request.url ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

/** Writes each frame in its own turn of the event loop. */
async function writeAll(response: ServerResponse): Promise<void> {
  const { write, end } = createFrameWriter(response, CORRELATION_ID);
  for (const [index, frames] of FRAMES.entries()) {
    await (index === FRAMES.length - 1 ? end(frames) : write(frames));
    await new Promise(setImmediate);
  }
}

async function textOf(socket: Socket): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const part of socket as AsyncIterable<Buffer>) bytes = Buffer.concat([bytes, part]);
  return bytes.toString('utf8');
}

function chunked(frames: readonly string[]): string {
  return [...frames, ''].map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join('');
}

function bodiesOf(text: string): readonly string[] {
  return text.split(/HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*\r\n/).slice(1);
}

test('CC-01 frames are body chunks, counted in bytes', async (t) => {
  const socket = await callerOf(t, writeAll);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  assert.deepEqual(bodiesOf(await textOf(socket)), [chunked(FRAMES)]);
});

test('CC-01 an HTTP/1.0 caller gets the frames without chunked encoding', async (t) => {
  const socket = await callerOf(t, writeAll);
  socket.write('GET / HTTP/1.0\r\n\r\n');
  assert.deepEqual(bodiesOf(await textOf(socket)), [FRAMES.join('')]);
});

test('CC-01 frames of a pipelined answer wait their turn', async (t) => {
  const second = Promise.withResolvers<void>();
  const socket = await callerOf(t, async (response, path) => {
    if (path === '/first') await second.promise;
    await writeAll(response);
    if (path === '/second') second.resolve();
  });
  socket.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  assert.deepEqual(bodiesOf(await textOf(socket)), [chunked(FRAMES), chunked(FRAMES)]);
});

test('CC-11 writing waits until a slow reader reads or leaves', async (t) => {
  for (const leaves of [false, true]) {
    const waits = Promise.withResolvers<{ readonly waiting: Promise<void> | undefined }>();
    const socket = await callerOf(t, async (response) => {
      const { write, end } = createFrameWriter(response, CORRELATION_ID);
      assert.equal(write('data: one\n\n'), undefined);
      await new Promise(setImmediate);
      const waiting = write(LARGE);
      waits.resolve({ waiting });
      await waiting;
      if (leaves) assert.equal(write('data: more\n\n'), undefined);
      if (leaves) assert.equal(end('data: end\n\n'), undefined);
    });
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const { waiting } = await waits.promise;
    assert.ok(waiting !== undefined, 'a reader who reads nothing was given everything');
    if (leaves) socket.destroy();
    else socket.resume();
    await waiting;
  }
});

test('CC-01 a frame is written in one piece', async (t) => {
  let pieces: readonly unknown[] = [];
  let ends: readonly unknown[] = [];
  const socket = await callerOf(t, async (response) => {
    const { write: writeFrames, end } = createFrameWriter(response, CORRELATION_ID);
    await writeFrames('data: first\n\n');
    await new Promise(setImmediate);
    const { socket: own } = response;
    assert.ok(own !== null);
    const written = t.mock.method(own, 'write');
    await writeFrames('data: next\n\n');
    pieces = written.mock.calls.map((call) => call.arguments[0]);
    const together = t.mock.method(own as unknown as Vectored, '_writev');
    await end('data: end\n\n');
    ends = together.mock.calls.map((call) => call.arguments[0].map(({ chunk }) => chunk));
  });
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await textOf(socket);
  assert.deepEqual(pieces, ['c\r\ndata: next\n\n\r\n']);
  assert.deepEqual(ends, [['b\r\ndata: end\n\n\r\n', '0\r\n\r\n']]);
});

for (const { what, refusal, code } of [
  { what: 'a refusal', refusal: refuse('UPSTREAM_PROVIDER_ERROR', 'It failed.'), code: 'UPSTREAM_PROVIDER_ERROR' },
  { what: 'a fault of ours', refusal: undefined, code: 'INTERNAL_SERVER_ERROR' },
] as const) {
  test(`ER-06 a stream that fails by ${what} ends with its error envelope`, async (t) => {
    const socket = await callerOf(t, async (response) => {
      const { write, fail } = createFrameWriter(response, CORRELATION_ID);
      await write('data: first\n\n');
      await fail('data: held\n\n', refusal, chatReply.stream(CALL).fail);
    });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const frames = (bodiesOf(await textOf(socket))[0] ?? '').split('\n\n');
    assert.deepEqual([frames[0], frames[1], frames[3]], ['data: first', 'data: held', '']);
    const failure = JSON.parse((frames[2] ?? '').replace(/^data: /, '')) as { error: Record<string, unknown> };
    assert.deepEqual([failure.error['code'], failure.error['correlationId']], [code, CORRELATION_ID]);
    assert.deepEqual(Object.entries(failure).at(-1), ['choices', failure.error['message']]);
  });
}

test('ER-06 a failed stream ends whole and leaves its connection open', async (t) => {
  const refusal = refuse('UPSTREAM_PROVIDER_ERROR', 'Zu späte ☃.');
  const socket = await callerOf(t, async (response, path) => {
    if (path === '/next') return writeAll(response);
    const { write, fail } = createFrameWriter(response, CORRELATION_ID);
    await write('data: first\n\n');
    await new Promise(setImmediate);
    await fail('', refusal, chatReply.stream(CALL).fail);
    socket.write('GET /next HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  });
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [failed = '', next] = bodiesOf(await textOf(socket));
  const [frame = ''] = /data: \{.*\n\n/.exec(failed) ?? [];
  assert.equal(failed, chunked(['data: first\n\n', frame]));
  assert.equal(next, chunked(FRAMES));
});
