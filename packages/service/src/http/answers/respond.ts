import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_STATUS } from '@purser/contract/errors.ts';
import { userElsewhere } from '#gateway/answer/refusals.ts';
import type { CallNotes } from '#gateway/call/call-notes.ts';
import type { RateAnswer, RateLimits } from '#gateway/request/admission.ts';
import { envelopeOf, faultRefusal } from '#http/answers/envelope.ts';
import { directoryOf } from '#cells/directory/directory.ts';
import { cellOfUser, isLeaving } from '#cells/moving/moving-fault.ts';
import { endAfterBody } from '#http/answers/end-after-body.ts';
import { refusalOfAddress } from '#http/answers/unknown-address.ts';
import { refusals } from '#http/answers/refusal-counter.ts';
import { type CorrelationId, newCorrelationId, parseCorrelationId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly correlationId: CorrelationId;
  /** Path and query of the request line. */
  readonly path: string;
  readonly query: string;
  /** What is known of a chat call, for its log line and its trace. It is undefined for other requests. */
  readonly notes: CallNotes | undefined;
  /** The body of an error, where it is not the envelope. Left out: that of the wire of its notes, if it has any. */
  readonly errorOf?: CallNotes['wire']['errorOf'];
}

/** The caller's own correlation id if it is well formed, otherwise a new one (ER-02). */
export function correlationIdOf(request: IncomingMessage | undefined): CorrelationId {
  const own = request?.headers['x-correlation-id'];
  return (typeof own === 'string' ? parseCorrelationId(own) : undefined) ?? newCorrelationId();
}

/** A request line may contain the whole address, as for a proxy (RFC 9112, 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Begins an exchange. Splits the address by hand: `URL` would cost more on the hot path, and normalise the path. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  notesOf: (path: string) => CallNotes | undefined = () => undefined,
): Exchange {
  const correlationId = correlationIdOf(request);
  const target = (request.url ?? '/').replace(ABSOLUTE_FORM, '') || '/';
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  return { request, response, correlationId, path, query, notes: notesOf(path) };
}

/** Sets headers that are given as a flat list of names and values, the form that `writeHead` takes. */
export function setHeaders(response: ServerResponse, headers: readonly string[]): void {
  if (response.headersSent) return; // The body turned out to be malformed and was refused meanwhile (ER-08).
  for (let at = 0; at + 1 < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}

/**
 * The app's rate limit and what is left of it, under two sets of names: those of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers-09), and the `x-ratelimit-*` names that clients of the compatible format read.
 * Added to a flat list of names and values, which costs no object per call.
 */
export function addRateLimit(head: string[], limits: RateLimits, answer: RateAnswer): void {
  const { rateBurst } = limits;
  const { tokensLeft } = answer;
  const resetSeconds = resetSecondsOf(limits, answer);
  head.push(
    'ratelimit-policy',
    `"app";q=${rateBurst};w=${secondsFor(rateBurst, limits)}`,
    'ratelimit',
    `"app";r=${tokensLeft};t=${resetSeconds}`,
    'x-ratelimit-limit-requests',
    String(rateBurst),
    'x-ratelimit-remaining-requests',
    String(tokensLeft),
    'x-ratelimit-reset-requests',
    `${resetSeconds}s`,
  );
}

/** The app's rate limit on an answer whose head is not written in one go. */
export function setRateLimit(response: ServerResponse, limits: RateLimits, answer: RateAnswer): void {
  const head: string[] = [];
  addRateLimit(head, limits, answer);
  setHeaders(response, head);
}

/** Seconds until the bucket is full again. For a refused call: until it has a token, the same as `retry-after`. */
function resetSecondsOf(limits: RateLimits, { isTaken, tokensLeft, waitMs }: RateAnswer): number {
  if (!isTaken) return Math.max(1, Math.ceil(waitMs / 1_000));
  return secondsFor(limits.rateBurst - tokensLeft, limits);
}

function secondsFor(tokens: number, { ratePerMinute }: RateLimits): number {
  return Math.ceil((tokens * 60) / ratePerMinute);
}

/** The header that clients of Messages show, beside the `request_id` in the body of an error (WI-09). */
export const ID_OF_MESSAGES = 'request-id';

/** Puts the correlation id on the answer, before anybody knows what the answer will be (ER-02). */
export function nameAnswer({ response, correlationId, notes, errorOf = notes?.wire.errorOf }: Exchange): void {
  response.setHeader('x-correlation-id', correlationId);
  response.setHeader('x-request-id', correlationId);
  if (errorOf !== undefined) response.setHeader(ID_OF_MESSAGES, correlationId);
}

/** Sends an answer as JSON, with its length, so that the connection can be used again. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** Sends text that is JSON. */
function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  end: () => void = () => response.end(text),
): void {
  if (response.headersSent) return; // The body turned out to be malformed and was refused while the handler ran.
  response.statusCode = status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(text));
  end();
}

/**
 * Answers with a refusal, in the envelope and with the headers that stock clients obey (ER-01, ER-05, ER-07). Only a
 * refusal that says how long to wait may be retried, a 500 too.
 */
export function sendRefusal(exchange: Exchange, refusal: Refusal, isReadable = true): void {
  const { request, response, correlationId, notes } = exchange;
  if (notes !== undefined) noteRefusal(notes, refusal);
  if (response.headersSent || response.destroyed) return;
  nameAnswer(exchange);
  const { code, detail } = refusal;
  const status = ERROR_STATUS[code];
  refusals.of({ code }).add();
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (detail.topupUrl !== undefined) response.setHeader('x-service-topup-url', detail.topupUrl);
  if (detail.retryAfterSeconds !== undefined) {
    response.setHeader('retry-after', String(detail.retryAfterSeconds));
    response.setHeader('retry-after-ms', String(detail.retryAfterMs ?? detail.retryAfterSeconds * 1_000));
    response.setHeader('x-should-retry', 'true');
  } else if (status < 500 || status === 502) {
    response.setHeader('x-should-retry', 'false');
  }
  const envelope = envelopeOf(refusal, correlationId);
  const { errorOf = notes?.wire.errorOf } = exchange;
  const text = JSON.stringify(errorOf?.(envelope) ?? envelope);
  if (request.complete || !hasBody(request)) return sendText(response, status, text);
  // The rest of a body that was refused unread would be parsed as the next request.
  response.setHeader('connection', 'close');
  if (isReadable) sendText(response, status, text, () => endAfterBody(request, response, text));
  else sendText(response, status, text);
}

/** Keeps what the call was told first. Only a refusal of the request itself has more to say than its code. */
function noteRefusal(notes: CallNotes, refusal: Refusal): void {
  if (notes.code !== undefined) return;
  notes.code = refusal.code;
  if (refusal.code === 'BAD_REQUEST') notes.badRequest = refusal;
}

/** Answers a request that no route is for. Says what to change if it looks like a client with a wrong setting. */
export function sendNowhere(exchange: Exchange): void {
  sendRefusal(exchange, refusalOfAddress(exchange.path));
}

/** Answers a method that an address does not accept, with the methods that it does (ER-04). */
export function sendNotAllowed(exchange: Exchange, methods: readonly string[]): void {
  const allowed = methods.join(', ');
  exchange.response.setHeader('allow', allowed);
  sendRefusal(exchange, refuse('METHOD_NOT_ALLOWED', `This address accepts ${allowed}.`));
}

/** Whether the caller is sending a body, declared by length or chunked. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Logs a fault of ours and answers with the one sentence of every 500 (ER-03). `route` is the route as it was declared,
 * never the address itself, which may name an end user.
 */
export function sendFault(exchange: Exchange, log: Log, fault: unknown, route: string | undefined): void {
  const directory = directoryOf(fault);
  if (directory !== undefined) return sendRefusal(exchange, elsewhere(directory));
  if (isLeaving(fault)) return sendRefusal(exchange, userElsewhere());
  const cell = cellOfUser(fault);
  if (cell !== undefined) {
    return sendRefusal(exchange, refuse('CONFLICT', `This user belongs to the cell ${cell}. Do this there.`));
  }
  log.error({ correlationId: exchange.correlationId, route, fault: describeFault(fault) }, 'a call failed');
  sendRefusal(exchange, faultRefusal());
}

/** Accounts, apps and the catalogue are changed in one cell, and copied to all. */
function elsewhere(directory: string): Refusal<'CONFLICT'> {
  return refuse(
    'CONFLICT',
    `Accounts, apps and the catalogue are changed in another part of this service. Do this at ${directory}.`,
  );
}
