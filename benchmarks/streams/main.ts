// Reads many streams at once and cheaply: it looks for marks in the bytes and parses nothing. Told what to do by
// `benchmarks/measures/open-streams.ts`.
import net, { type Socket } from 'node:net';
import { TICK, TICK_DIGITS, nowMicros } from '../upstream/tick.ts';
import { obey } from '../support/worker.ts';

/**
 * `call` reads whole streams, one after the other on each connection. `open` opens streams and waits until each has
 * begun.
 */
export type StreamsOrder =
  | { readonly act: 'call'; readonly requests: readonly string[]; readonly url: string; readonly calls: number }
  | { readonly act: 'open'; readonly requests: readonly string[]; readonly url: string }
  /** What comes in this time on all that are open. */
  | { readonly act: 'count'; readonly seconds: number }
  /** Has the provider end all that were opened, and reads them to their end. */
  | { readonly act: 'end'; readonly upstreamUrl: string };

export interface StreamsReport {
  /** Those that have begun, ended in order, and broken off, since the last `open` or `call`. */
  readonly begun: number;
  readonly ended: number;
  readonly cut: number;
  /** These are about the last `count`: the number of chunks, and the micros between provider and reader. */
  readonly chunks: number;
  readonly p50: number;
  readonly p99: number;
}

/** The mark includes the end of the answer, so that nothing follows it. */
const END = Buffer.from('data: [DONE]\n\n\r\n0\r\n\r\n');
/** This number of streams is opened at a time, so that no queue of connections overflows. */
const OPENED_AT_A_TIME = 50;
const TAIL_BYTES = 64;

let streams = { begun: 0, ended: 0, cut: 0 };
let delays: number[] = [];
let isCounting = false;

obey(async (told): Promise<StreamsReport> => {
  const order = told as StreamsOrder;
  if (order.act === 'call') await call(order.url, order.requests, order.calls);
  if (order.act === 'open') await open(order.url, order.requests);
  if (order.act === 'count') await count(order.seconds);
  if (order.act === 'end') await end(order.upstreamUrl);
  const sorted = Float64Array.from(delays).toSorted();
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { ...streams, chunks: sorted.length, p50: at(0.5), p99: at(0.99) };
});

async function call(url: string, requests: readonly string[], calls: number): Promise<void> {
  streams = { begun: 0, ended: 0, cut: 0 };
  let left = calls;
  const onEnd = (socket: Socket, request: string): void => {
    left -= 1;
    if (left > 0) socket.write(request);
    else socket.end();
  };
  await Promise.all(requests.map((request) => start(url, request, (socket) => onEnd(socket, request)).over));
}

async function open(url: string, requests: readonly string[]): Promise<void> {
  streams = { begun: 0, ended: 0, cut: 0 };
  for (let first = 0; first < requests.length; first += OPENED_AT_A_TIME) {
    const some = requests.slice(first, first + OPENED_AT_A_TIME);
    await Promise.all(some.map((request) => start(url, request, (socket) => socket.end()).begun));
  }
}

async function count(seconds: number): Promise<void> {
  delays = [];
  isCounting = true;
  await sleep(seconds * 1_000);
  isCounting = false;
}

async function end(upstreamUrl: string): Promise<void> {
  await fetch(`${upstreamUrl}/finish`, { method: 'POST' });
  while (streams.ended + streams.cut < streams.begun) await sleep(20);
}

/** Sends a request and reads its stream. A stream that ends is handed to `onEnd`, which may send the next. */
function start(
  url: string,
  request: string,
  onEnd: (socket: Socket) => void,
): { readonly begun: Promise<void>; readonly over: Promise<void> } {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: over, resolve: close } = Promise.withResolvers<void>();
  let isOpen = false;
  let tail: Buffer = Buffer.alloc(0); // The end may come in two parts.
  socket.setNoDelay(true);
  socket.on('data', (part: Buffer) => {
    if (!isOpen) streams.begun += 1;
    isOpen = true;
    begin();
    if (isCounting) note(part);
    const read = Buffer.concat([tail, part]);
    tail = read.subarray(-TAIL_BYTES);
    if (!read.includes(END)) return;
    tail = Buffer.alloc(0);
    isOpen = false;
    streams.ended += 1;
    onEnd(socket);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isOpen) streams.cut += 1;
    begin();
    close();
  });
  socket.write(request);
  return { begun, over };
}

/** Every chunk says when it was sent. */
function note(part: Buffer): void {
  const now = nowMicros();
  for (let at = part.indexOf(TICK); at >= 0; at = part.indexOf(TICK, at + TICK.length)) {
    const from = at + TICK.length;
    delays.push(now - Number(part.toString('latin1', from, from + TICK_DIGITS)));
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
