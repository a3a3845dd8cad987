// Runs inside a service that a test started, before its first module, and counts what each call costs there: see metered-service.ts.
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { type AddressInfo, Socket } from 'node:net';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import pg from 'pg';
import type { Counts, Walk } from './metered-service.ts';

/** A text that only a stream chunk contains. */
const CHUNK_MARK = '"chat.completion.chunk"';
const KIND_LENGTH_MAX = 80;

// What optimised code allocates depends on its history, and when code is optimised depends on how busy the machine is.
setFlagsFromString('--no-opt');
setFlagsFromString('--no-maglev');

const statements: Record<string, number> = {};
const connections: Record<string, number> = {};
const writes: Record<string, number> = {};
let chunkParses = 0;

/** Calls `seen` before each call of a method, which otherwise stays unchanged. */
function watch<Name extends string>(
  owner: Record<Name, (...values: never[]) => unknown>,
  name: Name,
  seen: (self: object, values: readonly unknown[]) => void,
): void {
  const original: (...values: never[]) => unknown = owner[name];
  owner[name] = function watched(this: object, ...values: never[]) {
    seen(this, values);
    return Reflect.apply(original, this, values);
  };
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** The listening port on either side, which identifies the other end. */
function portOf(socket: Socket): string {
  const isAccepted = 'server' in socket && socket.server !== null && socket.server !== undefined;
  return String(isAccepted ? socket.localPort : socket.remotePort);
}

/** The name of a statement, or its beginning. */
function kindOf(statement: unknown): string {
  if (typeof statement === 'string') return statement.slice(0, KIND_LENGTH_MAX);
  const { name, text } = statement as { readonly name?: string; readonly text?: string };
  return name ?? text?.slice(0, KIND_LENGTH_MAX) ?? 'unnamed';
}

const sockets = Socket.prototype as unknown as Record<'_write' | '_writev' | 'connect', () => unknown>;
// Node's streams call this once per write to the system, however many writes were combined into it.
watch(sockets, '_write', (socket) => count(writes, portOf(socket as Socket)));
watch(sockets, '_writev', (socket) => count(writes, portOf(socket as Socket)));
watch(sockets, 'connect', (socket) => {
  (socket as Socket).once('connect', () => count(connections, portOf(socket as Socket)));
});
watch(pg.Client.prototype as unknown as Record<'query', () => unknown>, 'query', (_client, [statement]) => {
  count(statements, kindOf(statement));
});
watch(JSON as unknown as Record<'parse', () => unknown>, 'parse', (_json, [text]) => {
  if (typeof text === 'string' && text.includes(CHUNK_MARK)) chunkParses += 1;
});

const session = new Session();
session.connect();

/** Begins to count how often each function runs. */
async function beginWalk(): Promise<Walk> {
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  return {};
}

/** Says of each file of ours how many functions of it have run so often. */
async function endWalk(times: number): Promise<Walk> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const walk: Record<string, number> = {};
  for (const { url, functions } of result) {
    const count = functions.filter(({ ranges: [whole] }) => whole !== undefined && whole.count >= times).length;
    if (url.includes('/packages/') && count > 0) walk[url] = count;
  }
  return walk;
}

/** `/<calls>` is asked after so many calls, and `/0` before them. */
async function walkAt(url: string): Promise<Walk> {
  const times = Number(url.slice(1));
  return times === 0 ? beginWalk() : endWalk(times);
}

function countsNow(): Counts {
  const allocatedBytes = (getHeapStatistics() as { readonly total_allocated_bytes: number }).total_allocated_bytes;
  return { statements, connections, writes, chunkParses, allocatedBytes };
}

const meter = createServer((request, response) => {
  response.setHeader('connection', 'close');
  const { url = '/' } = request;
  if (url === '/') response.end(JSON.stringify(countsNow()));
  else void walkAt(url).then((walk) => response.end(JSON.stringify(walk)));
});
meter.on('connection', (socket) => socket.unref());
meter.listen(0, '127.0.0.1', () => {
  process.stderr.write(`The meter is at http://127.0.0.1:${(meter.address() as AddressInfo).port}/ now.\n`);
});
meter.unref(); // The meter does not keep the service from ending.
