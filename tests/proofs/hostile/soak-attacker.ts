// A thousand slow senders and a thousand stalled readers at a time, until it is told to stop.
import { connect, type Socket } from 'node:net';
import { obey } from './actor.ts';
import { STREAMS, streamRequest } from './soak-requests.ts';

const BYTE_EVERY_MS = 1_000;
const BATCH = 25;

const sockets = new Set<Socket>();
const seen = { senders: 0, readers: 0, sendersCut: 0, readersCut: 0 };
let isOn = false;

function begin(): Socket {
  const socket = connect(streamRequest('').port, '127.0.0.1');
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
  return socket;
}

/** Sends a head at one byte a second, and starts again when it is cut off. */
function sendSlowly(): void {
  const socket = begin();
  seen.senders += 1;
  socket.resume();
  socket.write('POST /v1/chat/completions HTTP/1.1\r\nx-slow: ');
  const timer = setInterval(() => socket.write('a'), BYTE_EVERY_MS);
  socket.on('close', () => {
    clearInterval(timer);
    if (!isOn) return;
    seen.sendersCut += 1;
    sendSlowly();
  });
}

/** Requests a flood and reads nothing of it. Resolves when the flood has begun. */
function stall(): Promise<void> {
  const socket = begin();
  seen.readers += 1;
  socket.write(streamRequest('flood').bytes);
  return new Promise((resolve) => {
    socket.once('readable', () => resolve()); // Nothing is read: the rest stays in the buffers.
    socket.on('close', () => {
      if (isOn) seen.readersCut += 1;
      resolve();
    });
  });
}

obey({
  start: async () => {
    isOn = true;
    for (let count = 0; count < STREAMS; count += 1) sendSlowly();
    for (let count = 0; count < STREAMS; count += BATCH) await Promise.all(Array.from({ length: BATCH }, stall));
    return seen;
  },
  stop: () => {
    isOn = false;
    for (const socket of sockets) socket.destroy();
    return seen;
  },
});
