// Opens a thousand streams and reads them to their end.
import { connect } from 'node:net';
import { obey } from './actor.ts';
import { STREAMS, streamRequest } from './soak-requests.ts';

/** How many are opened at a time. */
const BATCH = 25;

const state = { opened: 0, done: 0, cut: 0, bytes: 0 };

/** Resolves when its first frame has arrived. */
async function open(): Promise<void> {
  const { port, bytes } = streamRequest('Hello');
  const socket = connect(port, '127.0.0.1');
  let tail = '';
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  socket.on('data', (part: Buffer) => {
    state.bytes += part.length;
    tail = (tail + part.toString('latin1')).slice(-400);
    if (tail.includes('data: ')) resolve();
    if (tail.includes('[DONE]')) socket.end();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (tail.includes('[DONE]')) state.done += 1;
    else state.cut += 1;
    resolve();
  });
  socket.write(bytes);
  await begun;
  state.opened += 1;
}

obey({
  open: async () => {
    while (state.opened < STREAMS) await Promise.all(Array.from({ length: BATCH }, open));
    return state;
  },
  look: () => state,
  untilEnded: async () => {
    const limit = AbortSignal.timeout(60_000);
    while (state.done + state.cut < STREAMS && !limit.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
    return state;
  },
});
