import type { ServerResponse } from 'node:http';
import type { Caller } from '#developers/keys/directory.ts';
import type { Answer, PlainAnswer, ReplayedAnswer, StreamAnswer } from '#gateway/answer/answer.ts';
import { CallNotes } from '#gateway/call/call-notes.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { completeCall } from '#gateway/pipeline.ts';
import { admit, type RateAnswer, type RateLimits } from '#gateway/request/admission.ts';
import { type DataPlane, refuseAfterBody } from '#http/data-plane/data-plane.ts';
import { type FrameWriters, NO_READER } from '#http/data-plane/frame-writer.ts';
import { rateLimitHeaders } from '#http/data-plane/rate-limit-headers.ts';
import { heavyBodies } from '#http/requests/heavy-bodies.ts';
import { BODY_BYTES_MAX, declaredRefusal, readBody, tooMany } from '#http/requests/read-body.ts';
import { knownCallers, largeBodies } from '#http/requests/arriving-bodies.ts';
import { type Exchange, ID_OF_MESSAGES, sendRefusal, setHeaders } from '#http/answers/respond.ts';
import { sessionOf } from '#kernel/calls/call-session.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { OwnSignal } from '#kernel/work/signal.ts';

const NO_HEADERS: readonly string[] = [];
const NOT_VISIBLE = /[^\x21-\x7e]/g;
/** Names of tools are the caller's, and clients take no head of more than 16 KB. */
const LEFT_OUT_NAMES_MAX = 32;
const LEFT_OUT_CHARACTERS_MAX = 64;
const JSON_TYPE = 'application/json; charset=utf-8';
const STREAM_HEADERS = Object.entries({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}).flat();

/**
 * Answers a call that came by a wire (CC-01 ..., WI-01): admits the caller, reads the body, asks the gateway, and sends what it
 * returns. The body is read last, so that nobody without a key makes the process hold one.
 */
export async function handleCall(plane: CallPlane, wire: Wire, exchange: Exchange): Promise<void> {
  const { request, response, correlationId } = exchange;
  const head = ['x-correlation-id', correlationId, 'x-request-id', correlationId];
  if (wire.errorOf !== undefined) head.push(ID_OF_MESSAGES, correlationId);
  const most = wire.takesLargeBodies ? plane.bodyBytesMax : undefined;
  const declared = declaredRefusal(request, most);
  if (declared !== undefined) return sendRefusal(exchange, wire.worded(declared));
  let answer: Answer | Refusal;
  try {
    const admitted = admitCaller(plane, wire, exchange, head);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    if (caller instanceof Refusal) {
      if (!response.headersSent) setHeaders(response, head);
      return refuseAfterBody(exchange, wire.worded(caller), most);
    }
    failpoint('chat.arrived');
    const bytes = await readBody(exchange, { arriving: knownCallers, caller: caller.app.accountId, most });
    failpoint('chat.body-read');
    if (bytes === undefined || response.headersSent) return; // The server has refused it, because it came too slowly.
    answer = bytes instanceof Refusal ? bytes : await complete(plane, exchange, { wire, caller, bytes });
  } catch (fault) {
    if (!response.headersSent) setHeaders(response, head); // The answer to a fault carries what was known by then (SB-02).
    throw fault;
  }
  if (response.headersSent) {
    // The body turned out to be malformed, and that has been answered. The stream must still run to its end and be settled.
    return answer instanceof Refusal || answer.kind !== 'stream' ? undefined : answer.run(NO_READER);
  }
  if (answer instanceof Refusal) {
    setHeaders(response, head);
    return sendRefusal(exchange, wire.worded(answer));
  }
  head.push(...factsOf(answer), ...upstreamOf(exchange));
  if (answer.kind === 'plain') return sendPlain(response, head, answer);
  if (answer.kind === 'replayed') return sendReplayed(exchange, head, answer);
  return sendStream(exchange, { head, answer, writers: plane.writers });
}

/** Gives the body to the gateway, if there is room for it. */
function complete(plane: CallPlane, exchange: Exchange, arrived: Arrived) {
  return arrived.bytes.length <= BODY_BYTES_MAX
    ? completeAtTurn(plane, exchange, arrived)
    : completeLarge(plane, exchange, arrived);
}

async function completeLarge(plane: CallPlane, exchange: Exchange, arrived: Arrived): Promise<Answer | Refusal> {
  const counted = largeBodies.begin(arrived.caller.app.accountId);
  try {
    if (counted?.grow(arrived.bytes.length) !== true) return tooMany();
    return await completeAtTurn(plane, exchange, arrived);
  } finally {
    counted?.end();
  }
}

/** A body with very many values waits for its turn. */
function completeAtTurn({ gateway }: CallPlane, exchange: Exchange, arrived: Arrived) {
  const { caller, bytes } = arrived;
  return heavyBodies.run(caller.app.accountId, bytes, () => completeCall(gateway, incomingOf(exchange, arrived)));
}

type CallPlane = Pick<DataPlane, 'gateway' | 'writers' | 'bodyBytesMax'>;

/** A call whose body has arrived. */
interface Arrived {
  readonly wire: Wire;
  readonly caller: Caller;
  readonly bytes: Buffer;
}

/** What is learned of the caller goes to the head of the answer, even if the call is refused later (SB-02, LI-01). */
function admitCaller(
  { gateway }: CallPlane,
  wire: Wire,
  { request, notes }: Exchange,
  head: string[],
): ReturnType<typeof admit> {
  const listener = {
    onCaller: (caller: Caller) => {
      if (notes !== undefined) {
        notes.caller = caller;
        notes.session = gateway.keepsSessions ? sessionOf(request.headers, wire.name) : undefined;
        notes.span = gateway.beginSpan?.(request.headers['traceparent'], request.headers['tracestate']);
      }
      if (caller.mode === 'sandbox') head.push('x-service-mode', 'sandbox');
    },
    onRate: (limits: RateLimits, rate: RateAnswer) => void head.push(...rateLimitHeaders(limits, rate)),
  };
  return admit(gateway, request, listener, wire.takesKeyHeader);
}

/** A call, as the gateway needs it. */
export function incomingOf(exchange: Exchange, { wire, caller, bytes }: Arrived): Parameters<typeof completeCall>[1] {
  const { notes = new CallNotes(wire) } = exchange; // Calls have notes from the start.
  return {
    wire,
    caller,
    user: headerOf(exchange, 'x-service-user'),
    userAgent: headerOf(exchange, 'user-agent'),
    version: headerOf(exchange, 'anthropic-version'),
    betas: headerOf(exchange, 'anthropic-beta'),
    retry: {
      idempotencyKey: headerOf(exchange, 'idempotency-key'),
      retryCount: headerOf(exchange, 'x-stainless-retry-count'),
      joinSeconds: caller.joinSeconds,
    },
    correlationId: exchange.correlationId,
    bytes,
    gone: new CallerGone(exchange.response),
    notes,
  };
}

function headerOf({ request }: Exchange, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Aborts when the connection closes before the whole answer is out. */
class CallerGone extends OwnSignal {
  constructor(response: ServerResponse) {
    super();
    response.on('close', () => {
      if (!response.writableFinished) this.abort();
    });
  }
}

/** A lowered limit is told, so that an app can explain a short answer to its user. So is what the model was not asked for. */
function factsOf({ facts }: Answer): readonly string[] {
  const { callId, leftOut, loweredOutputTokens } = facts;
  const lowered = loweredOutputTokens === undefined ? [] : ['x-service-max-output-tokens', String(loweredOutputTokens)];
  const without = leftOut.length === 0 ? [] : ['x-service-left-out', namesOf(leftOut)];
  return ['x-service-call-id', callId, ...lowered, ...without];
}

function namesOf(leftOut: readonly string[]): string {
  const names = leftOut.map((name) => name.slice(0, LEFT_OUT_CHARACTERS_MAX).replaceAll(NOT_VISIBLE, '_'));
  return names.length <= LEFT_OUT_NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, LEFT_OUT_NAMES_MAX).join(', ')}, ...`;
}

/** Who served the call, for the operator's own apps only: others would learn what the operator buys (CC-21). */
function upstreamOf({ notes }: Exchange): readonly string[] {
  if (notes?.caller?.app.isFirstParty !== true || notes.served?.isAnswered !== true) return NO_HEADERS;
  const { providerName, providerModel } = notes.served.upstream;
  return ['x-service-upstream', `${providerName}/${providerModel}`.replaceAll(NOT_VISIBLE, '_')];
}

function sendPlain(response: ServerResponse, head: string[], { charged, text, onSent }: PlainAnswer): void {
  tellWhenSent(response, onSent);
  sendWhole(response, head, charged, text);
  failpoint('chat.plain-sent');
}

function sendWhole(response: ServerResponse, head: string[], charged: Micros, text: string): void {
  head.push('x-service-charge-micros', String(microsToWire(charged)), 'content-type', JSON_TYPE);
  const bytes = Buffer.byteLength(text);
  head.push('content-length', String(bytes));
  response.writeHead(200, head);
  response.end(text, bytes === text.length ? 'latin1' : 'utf8'); // `latin1` copies the same bytes without encoding them.
}

/** Sends the kept answer of an earlier call, byte for byte (CC-14). */
function sendReplayed({ response, notes }: Exchange, head: string[], answer: ReplayedAnswer): void {
  const { charged, isStream, text, onSent, facts } = answer;
  if (notes !== undefined) {
    notes.isReplay = true;
    notes.callId = facts.callId;
  }
  tellWhenSent(response, onSent);
  head.push('x-service-replayed', 'true');
  if (!isStream) return sendWhole(response, head, charged, text);
  head.push('x-service-charge-micros', String(microsToWire(charged)), ...STREAM_HEADERS);
  response.writeHead(200, head);
  response.end(text);
}

/** A response that closes before all of it was handed to the network did not reach its caller. */
function tellWhenSent(response: ServerResponse, onSent: PlainAnswer['onSent']): void {
  if (onSent === undefined) return;
  if (response.destroyed) onSent(false);
  else response.once('close', () => onSent(response.writableFinished));
}

interface SentStream {
  readonly head: readonly string[];
  readonly answer: StreamAnswer;
  readonly writers: FrameWriters;
}

async function sendStream(exchange: Exchange, { head, answer, writers }: SentStream): Promise<void> {
  const { response, correlationId } = exchange;
  response.writeHead(200, [...head, ...STREAM_HEADERS]);
  await answer.run(writers.open(response, correlationId));
}
