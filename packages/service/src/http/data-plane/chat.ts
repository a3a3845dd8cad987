import type { ServerResponse } from 'node:http';
import type { Answer, PlainAnswer, ReplayedAnswer, StreamAnswer } from '#gateway/answer/answer.ts';
import { completeChat, type Gateway } from '#gateway/pipeline.ts';
import { createFrameWriter, NO_READER } from '#http/data-plane/frame-writer.ts';
import { rateLimitHeaders } from '#http/data-plane/rate-limit-headers.ts';
import { readBody } from '#http/read-body.ts';
import { type Exchange, sendRefusal, setHeaders } from '#http/respond.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { type Micros, microsToWire } from '#kernel/micros.ts';
import { Refusal } from '#kernel/refusal.ts';
import { OwnSignal } from '#kernel/signal.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const STREAM_HEADERS = Object.entries({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}).flat();

/** `POST /v1/chat/completions` (CC-01 ...). */
export async function handleChat(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response, correlationId } = exchange;
  const head = ['x-correlation-id', correlationId, 'x-request-id', correlationId];
  failpoint('chat.arrived');
  const bytes = await readBody(request);
  failpoint('chat.body-read');
  if (bytes === undefined || response.headersSent) return; // Refused meanwhile, because it came too slowly.
  if (bytes instanceof Refusal) return sendRefusal(exchange, bytes);
  let answer: Answer | Refusal;
  try {
    failpoint('chat.answer-wanted');
    answer = await completeChat(gateway, incomingOf(exchange, bytes, head));
    failpoint('chat.answer-known');
  } catch (fault) {
    if (!response.headersSent) setHeaders(response, head); // What was known by then is on the answer to a fault too (SB-02).
    throw fault;
  }
  if (response.headersSent) {
    // Its body turned out to be malformed, and that has been answered. A stream comes to its end all the same.
    return answer instanceof Refusal || answer.kind !== 'stream' ? undefined : answer.run(NO_READER);
  }
  if (answer instanceof Refusal) {
    setHeaders(response, head);
    return sendRefusal(exchange, answer);
  }
  head.push(...factsOf(answer));
  if (answer.kind === 'plain') return sendPlain(response, head, answer);
  if (answer.kind === 'replayed') return sendReplayed(response, head, answer);
  return sendStream(response, head, answer);
}

/** What is known of a caller on the way is added to the head of the answer. */
function incomingOf(exchange: Exchange, bytes: Buffer, head: string[]): Parameters<typeof completeChat>[1] {
  return {
    authorization: exchange.request.headers.authorization,
    user: headerOf(exchange, 'x-service-user'),
    retry: {
      idempotencyKey: headerOf(exchange, 'idempotency-key'),
      retryCount: headerOf(exchange, 'x-stainless-retry-count'),
    },
    correlationId: exchange.correlationId,
    bytes,
    gone: new CallerGone(exchange.response),
    onMode: (mode) => {
      if (mode === 'sandbox') head.push('x-service-mode', 'sandbox');
    },
    onRate: (limits, rate) => void head.push(...rateLimitHeaders(limits, rate)),
  };
}

function headerOf({ request }: Exchange, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The connection may close before the answer is out. */
class CallerGone extends OwnSignal {
  constructor(response: ServerResponse) {
    super();
    response.on('close', () => {
      if (!response.writableFinished) this.abort();
    });
  }
}

function factsOf({ facts }: Answer): readonly string[] {
  const { callId, loweredOutputTokens } = facts;
  const lowered = loweredOutputTokens === undefined ? [] : ['x-service-max-output-tokens', String(loweredOutputTokens)];
  return ['x-service-call-id', callId, ...lowered];
}

function sendPlain(response: ServerResponse, head: string[], { charged, completion, onSent }: PlainAnswer): void {
  tellWhenSent(response, onSent);
  sendWhole(response, head, charged, JSON.stringify(completion));
  failpoint('chat.plain-sent');
}

function sendWhole(response: ServerResponse, head: string[], charged: Micros, text: string): void {
  head.push('x-service-charge-micros', String(microsToWire(charged)), 'content-type', JSON_TYPE);
  const bytes = Buffer.byteLength(text);
  head.push('content-length', String(bytes));
  response.writeHead(200, head);
  response.end(text, bytes === text.length ? 'latin1' : 'utf8'); // The same bytes, copied instead of encoded.
}

/** What an earlier attempt was answered, in its own bytes (CC-14). */
function sendReplayed(response: ServerResponse, head: string[], answer: ReplayedAnswer): void {
  const { charged, isStream, text, onSent } = answer;
  tellWhenSent(response, onSent);
  head.push('x-service-replayed', 'true');
  if (!isStream) return sendWhole(response, head, charged, text);
  head.push('x-service-charge-micros', String(microsToWire(charged)), ...STREAM_HEADERS);
  response.writeHead(200, head);
  response.end(text);
}

/** A response that ends before all of it was handed to the network has not reached its caller. */
function tellWhenSent(response: ServerResponse, onSent: PlainAnswer['onSent']): void {
  if (onSent === undefined) return;
  if (response.destroyed) onSent(false);
  else response.once('close', () => onSent(response.writableFinished));
}

async function sendStream(response: ServerResponse, head: string[], answer: StreamAnswer): Promise<void> {
  response.writeHead(200, [...head, ...STREAM_HEADERS]);
  failpoint('chat.stream-head-sent');
  await answer.run(createFrameWriter(response));
  failpoint('chat.stream-sent');
}
