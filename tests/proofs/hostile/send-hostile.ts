import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpRequest, httpSend } from '../../support/client.ts';
import { type RawAnswer, readAnswers } from './answers.ts';
import type { HostileRequest } from './requests.ts';

/** What came back on a connection. */
export interface Heard {
  readonly answers: readonly RawAnswer[];
  /** Bytes after the last complete answer. */
  readonly rest: Buffer;
  /** What took longer than it may. It is undefined if nothing did. */
  readonly stuck: 'no answer' | 'not closed' | 'not connected' | undefined;
}

/** An answer takes a few milliseconds; the limit is for a busy machine. */
const ANSWER_MS_MAX = 30_000;
/** How long a request that may be incomplete waits for its answer before it ends its side of the connection. */
const PATIENCE_MS = 60;

/** Sends the bytes on their own connection and returns what came back. */
export async function sendHostile(url: string, request: HostileRequest): Promise<Heard> {
  if (request.http !== undefined) return sendByClient(url, request.http);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const parts: Buffer[] = [];
  const closed = Promise.withResolvers<'closed'>();
  const answered = Promise.withResolvers<'answered'>();
  let isRefused = false;
  let isClosed = false;
  const heard = () => readAnswers(Buffer.concat(parts), request.methods, isClosed);
  const wanted = Math.max(1, request.methods.length);
  socket.on('data', (part: Buffer) => {
    parts.push(part);
    if (heard().whole.length >= wanted) answered.resolve('answered');
  });
  socket.on('error', (fault: NodeJS.ErrnoException) => {
    isRefused = fault.code === 'ECONNREFUSED'; // Otherwise a reset: `close` follows, and what arrived before it stays.
  });
  socket.on('close', () => {
    isClosed = true;
    closed.resolve('closed');
  });
  socket.write(request.bytes.subarray(0, request.bytesSent));
  const stuck = await converse(request, { socket, closed: closed.promise, answered: answered.promise });
  socket.destroy();
  const { whole, rest } = heard();
  return { answers: whole, rest, stuck: isRefused ? 'not connected' : stuck };
}

async function sendByClient(url: string, request: HttpRequest): Promise<Heard> {
  try {
    const { status, headers, text } = await httpSend(url, request);
    const answer = { status, headers: new Map(headers), body: Buffer.from(text) };
    return { answers: [answer], rest: Buffer.alloc(0), stuck: undefined };
  } catch (fault) {
    const isRefused = fault instanceof Error && 'code' in fault && fault.code === 'ECONNREFUSED';
    return { answers: [], rest: Buffer.alloc(0), stuck: isRefused ? 'not connected' : undefined };
  }
}

interface Conversation {
  readonly socket: ReturnType<typeof connect>;
  readonly closed: Promise<'closed'>;
  readonly answered: Promise<'answered'>;
}

async function converse({ ending, bytesSent }: HostileRequest, talk: Conversation): Promise<Heard['stuck']> {
  const { socket, closed, answered } = talk;
  if (ending === 'left') {
    await Promise.race([closed, pause(bytesSent % 20)]); // Leaves before, during or after the answer.
    return undefined;
  }
  if (ending === 'unsure') {
    if ((await Promise.race([closed, answered, pause(PATIENCE_MS, 'unsure' as const)])) === 'closed') return undefined;
    socket.end();
    return (await within(closed, ANSWER_MS_MAX)) ? undefined : 'not closed';
  }
  return (await within(Promise.race([closed, answered]), ANSWER_MS_MAX)) ? undefined : 'no answer';
}

/** Whether it happens in time. */
export async function within(happening: Promise<unknown>, msMax: number): Promise<boolean> {
  const limit = new AbortController();
  const late = pause(msMax, false, { signal: limit.signal }).catch(() => false);
  const isInTime = await Promise.race([happening.then(() => true), late]);
  limit.abort();
  return isInTime;
}
