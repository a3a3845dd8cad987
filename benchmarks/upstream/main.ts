// A provider that costs next to nothing, in a process of its own: `node benchmarks/upstream/main.ts [--key f --cert f]`.
// It reads requests with a `content-length` alone, and answers every one of them with buffers that were made beforehand.
import { readFileSync } from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { parseArgs } from 'node:util';
import { CHUNK_PAUSE_MS, PACED_CHUNKS, PACED_TAIL, PLAIN, pacedChunk, STREAM, STREAM_HEAD } from './answers.ts';
import { EMBEDDING } from './embeddings.ts';
import { MESSAGE_STREAM, PLAIN_MESSAGE } from './messages.ts';
import { PLAIN_RESPONSE, RESPONSE_STREAM } from './responses.ts';

const { values } = parseArgs({ options: { key: { type: 'string' }, cert: { type: 'string' } } });

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /^content-length: *(\d+)/im;
/** The marks of a call that wants a stream, as clients in JavaScript write it, and as some in Python do. */
const WANTS_STREAM = [Buffer.from('"stream":true'), Buffer.from('"stream": true')];
const MESSAGES_PATH = Buffer.from('POST /messages/');
const RESPONSES_PATH = Buffer.from('POST /responses/');
const EMBEDDINGS_PATH = Buffer.from('POST /embeddings/');
const PACED_PATH = Buffer.from('POST /paced/');
/** Ends all paced streams, each at its next beat. */
const FINISH_PATH = Buffer.from('POST /finish ');
const LENGTH_REQUIRED = 'HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** How often all paced streams were ended. */
let finished = 0;

function serve(socket: Socket): void {
  let pending: Buffer | undefined;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (part: Buffer) => {
    let rest = pending === undefined ? part : Buffer.concat([pending, part]);
    for (let size = sizeOf(rest); size !== undefined && rest.length >= size; size = sizeOf(rest)) {
      if (size === 0) return void socket.end(LENGTH_REQUIRED);
      answer(socket, rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    pending = rest.length === 0 ? undefined : rest;
  });
}

/** Bytes of the request at the front; undefined while its head is not there, 0 where it does not tell its length. */
function sizeOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const found = LENGTH.exec(bytes.toString('latin1', 0, end));
  return found === null ? 0 : end + HEAD_END.length + Number(found[1]);
}

function answer(socket: Socket, request: Buffer): void {
  if (startsWith(request, FINISH_PATH)) finished += 1;
  const isStream = WANTS_STREAM.some((mark) => request.includes(mark));
  if (startsWith(request, MESSAGES_PATH)) socket.write(isStream ? MESSAGE_STREAM : PLAIN_MESSAGE);
  else if (startsWith(request, RESPONSES_PATH)) socket.write(isStream ? RESPONSE_STREAM : PLAIN_RESPONSE);
  else if (startsWith(request, EMBEDDINGS_PATH)) socket.write(EMBEDDING);
  else if (!isStream) socket.write(PLAIN);
  else if (startsWith(request, PACED_PATH)) pace(socket);
  else socket.write(STREAM);
}

function startsWith(request: Buffer, path: Buffer): boolean {
  return request.subarray(0, path.length).equals(path);
}

/**
 * Sends twenty chunks a second, the first at once. Each stream has a beat of its own, which depends on when it began.
 */
function pace(socket: Socket): void {
  const startedAfter = finished;
  let sent = 0;
  const send = () => {
    sent += 1;
    if (socket.destroyed) return clearInterval(timer);
    if (sent <= PACED_CHUNKS && finished === startedAfter) return void socket.write(pacedChunk());
    clearInterval(timer);
    socket.write(PACED_TAIL);
  };
  socket.write(STREAM_HEAD);
  const timer = setInterval(send, CHUNK_PAUSE_MS);
  send();
}

const server =
  values.key === undefined || values.cert === undefined
    ? net.createServer(serve)
    : tls.createServer({ key: readFileSync(values.key), cert: readFileSync(values.cert) }, serve);
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const scheme = values.key === undefined ? 'http' : 'https';
  console.log(`ready at ${scheme}://127.0.0.1:${(server.address() as AddressInfo).port} `);
});
process.on('SIGTERM', () => process.exit());
