import type { ServerResponse } from 'node:http';
import type { Answer, PlainAnswer, ReplayedAnswer, StreamAnswer } from '#gateway/answer.ts';
import { completeChat, type Gateway } from '#gateway/pipeline.ts';
import { setRateLimit } from '#http/data-plane/rate-limit-headers.ts';
import { readBody } from '#http/read-body.ts';
import { type Exchange, sendJson, sendRefusal, sendText } from '#http/respond.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { microsToWire } from '#kernel/micros.ts';
import { Refusal } from '#kernel/refusal.ts';

/** A reader that stands still holds its provider's stream; after so long it is treated as gone. */
const STALLED_MS_MAX = 60_000;

/** `POST /v1/chat/completions` (CC-01 ...). */
export async function handleChat(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response, correlationId } = exchange;
  failpoint('chat.arrived');
  const bytes = await readBody(request);
  failpoint('chat.body-read');
  if (bytes === undefined || response.headersSent) return; // Refused meanwhile, because it came too slowly.
  if (bytes instanceof Refusal) return sendRefusal(exchange, bytes);
  const answer = await completeChat(gateway, {
    authorization: request.headers.authorization,
    user: headerOf(exchange, 'x-service-user'),
    retry: {
      idempotencyKey: headerOf(exchange, 'idempotency-key'),
      retryCount: headerOf(exchange, 'x-stainless-retry-count'),
    },
    correlationId,
    bytes,
    gone: goneSignalOf(response),
    onMode: (mode) => {
      if (mode === 'sandbox') response.setHeader('x-service-mode', 'sandbox');
    },
    onRate: (limits, rate) => setRateLimit(response, limits, rate),
  });
  failpoint('chat.answer-known');
  if (answer instanceof Refusal) return sendRefusal(exchange, answer);
  setFacts(response, answer);
  if (answer.kind === 'plain') return sendPlain(response, answer);
  if (answer.kind === 'replayed') return sendReplayed(response, answer);
  return sendStream(response, answer);
}

function headerOf({ request }: Exchange, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Aborted when the connection closes before the answer is out. */
function goneSignalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function setFacts(response: ServerResponse, { facts }: Answer): void {
  response.setHeader('x-service-call-id', facts.callId);
  if (facts.loweredOutputTokens !== undefined) {
    response.setHeader('x-service-max-output-tokens', String(facts.loweredOutputTokens));
  }
}

function sendPlain(response: ServerResponse, { charged, completion, onSent }: PlainAnswer): void {
  tellWhenSent(response, onSent);
  response.setHeader('x-service-charge-micros', String(microsToWire(charged)));
  sendJson(response, 200, completion);
  failpoint('chat.plain-sent');
}

/** What an earlier attempt was answered, in its own bytes (CC-14). */
function sendReplayed(response: ServerResponse, { charged, isStream, text, onSent }: ReplayedAnswer): void {
  tellWhenSent(response, onSent);
  response.setHeader('x-service-replayed', 'true');
  response.setHeader('x-service-charge-micros', String(microsToWire(charged)));
  if (!isStream) return sendText(response, 200, text);
  response.writeHead(200, STREAM_HEADERS);
  response.end(text);
}

/** A response that ends before all of it was handed to the network has not reached its caller. */
function tellWhenSent(response: ServerResponse, onSent: PlainAnswer['onSent']): void {
  if (onSent === undefined) return;
  if (response.destroyed) onSent(false);
  else response.once('close', () => onSent(response.writableFinished));
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

async function sendStream(response: ServerResponse, answer: StreamAnswer): Promise<void> {
  response.writeHead(200, STREAM_HEADERS);
  failpoint('chat.stream-head-sent');
  await answer.run((frames) => writeFrames(response, frames));
  failpoint('chat.stream-run');
  response.end();
  failpoint('chat.stream-sent');
}

/** Resolves when the caller can take more, or will never: one that takes nothing for too long has left. */
async function writeFrames(response: ServerResponse, frames: string): Promise<void> {
  if (response.destroyed || response.write(frames)) return;
  failpoint('chat.write-full');
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), STALLED_MS_MAX);
    const goOn = () => {
      clearTimeout(timer);
      response.off('drain', goOn);
      response.off('close', goOn);
      resolve();
    };
    response.on('drain', goOn);
    response.on('close', goOn);
  });
  failpoint('chat.write-drained');
}
