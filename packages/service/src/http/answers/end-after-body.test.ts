import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createEndAfterBody, endAfterBody } from '#http/answers/end-after-body.ts';

const LIMITS = {
  bytesMax: 1_000_000,
  dropMsMax: 60_000,
  silentMsMax: 60_000,
  connectionsMax: 1,
  burstBytes: 1_000_000_000,
  bytesPerSecond: 0,
};
const ANSWER = '{"error":{}}';

/** A server that refuses every body unread. Returns what a caller sees who sends a head and then `bytes` of the body. */
function refusing(t: TestContext, limits: Partial<typeof LIMITS>, clock = { nowMs: () => 0 }) {
  return refusingBy(t, createEndAfterBody({ ...LIMITS, ...limits }, clock));
}

async function refusingBy(t: TestContext, endAfterBody: ReturnType<typeof createEndAfterBody>) {
  const server = createServer((request, response) => {
    response.writeHead(413, { 'content-length': ANSWER.length, connection: 'close' });
    endAfterBody(request, response, ANSWER);
  });
  const taken: Socket[] = [];
  server.on('connection', (socket: Socket) => taken.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  let sent = 0;
  const send = (bytes: number, headers = '') => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const seen = { text: '', isClosed: false };
    socket.setEncoding('latin1');
    socket.on('data', (part) => (seen.text += String(part)));
    socket.on('error', () => {});
    const closed = once(socket, 'close').then(() => (seen.isClosed = true));
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}content-length: 100000000\r\n\r\n`);
    socket.write(Buffer.alloc(bytes));
    const answered = async () => {
      while (!seen.text.endsWith(ANSWER)) await once(socket, 'data');
    };
    /** Whether the connection is open after its answer, a whole exchange later: a close would have arrived by then. */
    const staysOpen = async (): Promise<boolean> => {
      await answered();
      const next = send(10);
      await next.answered();
      next.socket.destroy();
      await next.closed;
      return !seen.isClosed;
    };
    /** How many bytes the server has taken off the line. Connections are accepted in their order. */
    const place = sent++;
    return { socket, seen, closed, answered, staysOpen, taken: () => taken[place]?.bytesRead ?? 0 };
  };
  return send;
}

test('CC-06 the answer is sent at once while the body arrives', async (t) => {
  const send = await refusing(t, {});
  const one = send(10);
  assert.equal(await one.staysOpen(), true);
  one.socket.destroy();
  await one.closed;
});

test('CC-06 a body is dropped up to a limit', async (t) => {
  const send = await refusing(t, { bytesMax: 100_000 });
  const one = send(200_000);
  await one.closed;
});

test('CC-06 a body is dropped for a limited time', async (t) => {
  const silent = await refusing(t, { silentMsMax: 20 });
  await silent(10).closed;
  const long = await refusing(t, { dropMsMax: 20 });
  await long(10).closed;
});

test('CC-06 only so many bodies are dropped at once', async (t) => {
  const send = await refusing(t, { connectionsMax: 1 });
  const first = send(10);
  await first.answered();
  const second = send(10);
  await second.closed;
  assert.equal(first.seen.isClosed, false);
  first.socket.destroy();
  await first.closed;
  const third = send(10);
  assert.equal(await third.staysOpen(), true);
  third.socket.destroy();
  await third.closed;
});

test('CP-11 all connections together drop limited bytes', async (t) => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const send = await refusing(t, { connectionsMax: 9, burstBytes: 100_000, bytesPerSecond: 100_000 }, clock);
  await send(200_000).closed;
  await send(10).closed;
  clock.ms = 10_000;
  const late = send(10);
  assert.equal(await late.staysOpen(), true);
  late.socket.destroy();
  await late.closed;
});

test('CP-11 callers without credentials have 8 MiB dropped, others more', async (t) => {
  const send = await refusingBy(t, endAfterBody);
  const taken = async (headers: string): Promise<number> => {
    const one = send(20_000_000, headers);
    await one.answered();
    one.socket.end();
    await one.closed.catch(() => {}); // A reset, if the server has closed it in the middle of its body.
    return one.taken();
  };
  assert.ok((await taken('')) < 12_000_000);
  assert.ok((await taken('authorization: Bearer key\r\n')) >= 20_000_000);
});
