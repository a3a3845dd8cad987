import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, composeAnswer, type Habits } from './answer.ts';
import type { ChatRequest } from './chat-request.ts';
import { completionBody, deltaChunk, deltasOf, finishChunks, piecesOf, usageChunk } from './wire.ts';

/** A request and its answer. `signal` aborts when the client has left, and ends every wait. */
export interface Exchange {
  readonly request: ChatRequest;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** How an answer is delivered. */
export interface Manner extends Habits {
  readonly pieceDelayMs: number;
  readonly reportsUsage: boolean;
  /** `whole` is complete. `truncated` ends halfway, in good order. With `cut`, the connection breaks halfway. */
  readonly ending: 'whole' | 'truncated' | 'cut';
}

/** Delivers an answer, as a stream if the request asks for one. Rejects if the client leaves. */
export async function deliver(exchange: Exchange, manner: Manner): Promise<void> {
  const answer = composeAnswer(exchange.request, manner);
  if (exchange.request.isStream) await deliverStream(exchange, answer, manner);
  else await deliverBody(exchange, answer, manner);
}

/** Sends a buffered answer. `content-length` is declared, so that a client can tell a cut body from a complete one. */
async function deliverBody({ response, signal }: Exchange, answer: Answer, manner: Manner): Promise<void> {
  // A buffered answer takes as long as its stream would: a model needs the same time for both.
  if (manner.pieceDelayMs > 0) {
    const pieces = answer.choices.flatMap((choice) => piecesOf(choice.content ?? ''));
    await pause(manner.pieceDelayMs * pieces.length, undefined, { signal });
  }
  const given = manner.ending === 'truncated' ? halved(answer) : answer;
  const body = Buffer.from(JSON.stringify(completionBody(given, manner.reportsUsage ? answer.usage : undefined)));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  if (manner.ending !== 'cut') {
    response.end(body);
    return;
  }
  await write(response, body.subarray(0, body.length / 2));
  response.destroy();
}

/** Sends a stream, one event at a time, each after the system has accepted the one before. */
async function deliverStream({ request, response, signal }: Exchange, answer: Answer, manner: Manner): Promise<void> {
  const hasUsage = request.wantsUsageChunk && manner.reportsUsage;
  const deltas = deltasOf(answer);
  const given = manner.ending === 'whole' ? deltas : deltas.slice(0, Math.ceil(deltas.length / 2));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  for (const delta of given) {
    await write(response, frame(JSON.stringify(deltaChunk(answer, delta, hasUsage))));
    if (manner.pieceDelayMs > 0) await pause(manner.pieceDelayMs, undefined, { signal });
    signal.throwIfAborted();
  }

  switch (manner.ending) {
    case 'cut':
      response.destroy();
      return;
    case 'truncated':
      response.end();
      return;
    case 'whole': {
      const closing = [...finishChunks(answer, hasUsage), ...(hasUsage ? [usageChunk(answer)] : [])];
      const frames = closing.map((chunk) => frame(JSON.stringify(chunk)));
      response.end([...frames, frame('[DONE]')].join(''));
    }
  }
}

/** The answer with half of each text and without finish reasons. */
function halved(answer: Answer): Answer {
  const choices = answer.choices.map((choice) => {
    const pieces = piecesOf(choice.content ?? '');
    const half = pieces.slice(0, Math.ceil(pieces.length / 2)).join('');
    return { ...choice, content: choice.content === null ? null : half, finishReason: null };
  });
  return { ...answer, choices };
}

function frame(data: string): string {
  return `data: ${data}\n\n`;
}

/** Resolves when the system has accepted the bytes. So nothing accumulates in memory, and a cut happens after these bytes. */
function write(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
