import type { ServerResponse } from 'node:http';
import type { Caller } from '#developers/keys/directory.ts';
import type { Answer, PlainAnswer, ReplayedAnswer, StreamAnswer } from '#gateway/answer/answer.ts';
import { CallNotes } from '#gateway/call/call-notes.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { completeCall, type Gateway, type Incoming } from '#gateway/pipeline.ts';
import { admit, type RateAnswer, type RateLimits } from '#gateway/request/admission.ts';
import { type DataPlane, refuseAfterBody } from '#http/data-plane/data-plane.ts';
import { type FrameWriters, NO_READER } from '#http/data-plane/frame-writer.ts';
import { heavyBodies, HEAVY_BYTES_MIN } from '#http/requests/heavy-bodies.ts';
import {
  BODY_BYTES_MAX,
  declaredRefusal,
  readBody,
  tooMany,
  knownCallers,
  largeBodies,
} from '#http/requests/read-body.ts';
import { addRateLimit, type Exchange, ID_OF_MESSAGES, sendRefusal, setHeaders } from '#http/answers/respond.ts';
import { sessionOf } from '#kernel/calls/call-session.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import { type Micros, microsToWire } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { OwnSignal } from '#kernel/work/signal.ts';

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
  const { request, response } = exchange;
  const arriving = new ArrivingCall(plane.gateway, wire, exchange);
  const { head } = arriving;
  const most = wire.takesLargeBodies ? plane.bodyBytesMax : undefined;
  const declared = declaredRefusal(request, most);
  if (declared !== undefined) return sendRefusal(exchange, wire.worded(declared));
  let answer: Answer | Refusal;
  try {
    const admitted = admit(plane.gateway, request, arriving, wire.takesKeyHeader);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    if (caller instanceof Refusal) {
      setHeaders(response, head);
      return refuseAfterBody(exchange, wire.worded(caller), most);
    }
    failpoint('chat.arrived');
    const bytes = await readBody(exchange, { arriving: knownCallers, caller: caller.app.accountId, most });
    failpoint('chat.body-read');
    if (bytes === undefined || response.headersSent) return; // The server has refused it, because it came too slowly.
    answer =
      bytes instanceof Refusal ? bytes : await complete(plane.gateway, incomingOf(exchange, wire, caller, bytes));
  } catch (fault) {
    setHeaders(response, head); // The answer to a fault carries what was known by then (SB-02).
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
  addFacts(head, answer, exchange);
  if (answer.kind === 'plain') return sendPlain(response, head, answer);
  if (answer.kind === 'replayed') return sendReplayed(exchange, head, answer);
  return sendStream(exchange, head, answer, plane.writers);
}

/** Gives the body to the gateway, if there is room for it. Nearly every one is small, and needs neither a place nor a turn. */
function complete(gateway: Gateway, incoming: Incoming) {
  const { length } = incoming.bytes;
  if (length < HEAVY_BYTES_MIN) return completeCall(gateway, incoming);
  return length <= BODY_BYTES_MAX ? completeAtTurn(gateway, incoming) : completeLarge(gateway, incoming);
}

async function completeLarge(gateway: Gateway, incoming: Incoming): Promise<Answer | Refusal> {
  const counted = largeBodies.begin(incoming.caller.app.accountId);
  try {
    if (counted?.grow(incoming.bytes.length) !== true) return tooMany();
    return await completeAtTurn(gateway, incoming);
  } finally {
    counted?.end();
  }
}

/** A body with very many values waits for its turn. */
function completeAtTurn(gateway: Gateway, incoming: Incoming) {
  const { caller, bytes } = incoming;
  return heavyBodies.run(caller.app.accountId, bytes, () => completeCall(gateway, incoming));
}

type CallPlane = Pick<DataPlane, 'gateway' | 'writers' | 'bodyBytesMax'>;

/** What is learned of the caller goes to the head of the answer, even if the call is refused later (SB-02, LI-01). */
class ArrivingCall {
  /** The head of the answer so far, as a list of names and values. */
  readonly head: string[];
  readonly #gateway: Gateway;
  readonly #wire: Wire;
  readonly #exchange: Exchange;

  constructor(gateway: Gateway, wire: Wire, exchange: Exchange) {
    const { correlationId } = exchange;
    this.head = ['x-correlation-id', correlationId, 'x-request-id', correlationId];
    if (wire.errorOf !== undefined) this.head.push(ID_OF_MESSAGES, correlationId);
    this.#gateway = gateway;
    this.#wire = wire;
    this.#exchange = exchange;
  }

  onCaller(caller: Caller): void {
    const { keepsSessions, beginSpan } = this.#gateway;
    const { request, notes } = this.#exchange;
    if (notes !== undefined) {
      notes.caller = caller;
      notes.session = keepsSessions ? sessionOf(request.headers, this.#wire.name) : undefined;
      notes.span = beginSpan?.(request.headers['traceparent'], request.headers['tracestate']);
    }
    if (caller.mode === 'sandbox') this.head.push('x-service-mode', 'sandbox');
  }

  onRate(limits: RateLimits, rate: RateAnswer): void {
    addRateLimit(this.head, limits, rate);
  }
}

/** A call, as the gateway needs it. */
export function incomingOf(exchange: Exchange, wire: Wire, caller: Caller, bytes: Buffer): Incoming {
  const { request, response, correlationId, notes = new CallNotes(wire) } = exchange; // Calls have notes from the start.
  return { wire, caller, headers: request.headers, correlationId, bytes, gone: new CallerGone(response), notes };
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
function addFacts(head: string[], { facts }: Answer, { notes }: Exchange): void {
  const { callId, leftOut, loweredOutputTokens } = facts;
  head.push('x-service-call-id', callId);
  if (loweredOutputTokens !== undefined) head.push('x-service-max-output-tokens', String(loweredOutputTokens));
  if (leftOut.length > 0) head.push('x-service-left-out', namesOf(leftOut));
  // Who served the call, for the operator's own apps only: others would learn what the operator buys (CC-21).
  if (notes?.caller?.app.isFirstParty !== true || notes.served?.isAnswered !== true) return;
  const { providerName, providerModel } = notes.served.upstream;
  head.push('x-service-upstream', `${providerName}/${providerModel}`.replaceAll(NOT_VISIBLE, '_'));
}

function namesOf(leftOut: readonly string[]): string {
  const names = leftOut.map((name) => name.slice(0, LEFT_OUT_CHARACTERS_MAX).replaceAll(NOT_VISIBLE, '_'));
  return names.length <= LEFT_OUT_NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, LEFT_OUT_NAMES_MAX).join(', ')}, ...`;
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

async function sendStream(
  { response, correlationId }: Exchange,
  head: string[],
  answer: StreamAnswer,
  writers: FrameWriters,
): Promise<void> {
  head.push(...STREAM_HEADERS);
  response.writeHead(200, head);
  await answer.run(writers.open(response, correlationId));
}
