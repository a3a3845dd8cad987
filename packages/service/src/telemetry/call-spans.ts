import { type CallNotes, msBetween } from '#gateway/call/call-notes.ts';
import { type CallSpan, SPAN_PARTS, spanIdOf, spanIdOfTry } from '#gateway/call/call-span.ts';
import type { FailedTry, Served } from '#gateway/call/serving.ts';
import type { Upstream } from '#catalogue/catalogue.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import { ERROR_TYPE, GEN_AI, HTTP, operationOf, PROVIDER_NAMES, PURSER, SPAN_NAMES } from '#telemetry/names.ts';

/** A call that is over, and what its caller got. */
export interface EndedCall {
  readonly notes: CallNotes;
  readonly correlationId: CorrelationId;
  /** The HTTP status. Undefined if the caller left before there was one. */
  readonly status: number | undefined;
  readonly outcome: string;
}

export type SpanValue = string | number | boolean;

/** One span, by the clock of `CallTimes`. */
export interface SpanFacts {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, SpanValue | undefined>>;
}

const SERVER_FAULT = 500;
/** The provider has done nothing wrong when we gave the request up. */
const OURS: ReadonlySet<FailedTry['kind']> = new Set(['unsent', 'given-up']);
/** The word of the conventions for an error that has no name. */
const OTHER = '_OTHER';

/**
 * The spans of a call, made when it is over from what is known of it: the call, its admission, its hold, each request to a
 * provider, its settlement. None of them holds anything that a person wrote, nor a user's name or a key.
 */
export function spansOf(call: EndedCall, span: CallSpan): readonly SpanFacts[] {
  const { times, served } = call.notes;
  const { startMs, admittedMs, heldMs, endedMs, settledMs, doneMs } = times;
  const part = (name: keyof typeof SPAN_PARTS, fromMs: number, toMs: number, hasFailed = false): SpanFacts => ({
    name: SPAN_NAMES[name],
    kind: 'internal',
    spanId: spanIdOf(span, SPAN_PARTS[name]),
    parentId: span.spanId,
    startMs: fromMs,
    endMs: toMs,
    hasFailed,
    attributes: {},
  });
  const spans = [wholeCall(call, span), part('admission', startMs, admittedMs || doneMs)];
  if (admittedMs > 0) spans.push(part('hold', admittedMs, heldMs || doneMs));
  if (served !== undefined) spans.push(...triesOf(call, span, served));
  if (endedMs > 0) spans.push(part('settlement', endedMs, settledMs || doneMs, settledMs === 0));
  return spans;
}

function wholeCall({ notes, correlationId, status, outcome }: EndedCall, span: CallSpan): SpanFacts {
  const { times, caller, model, isStream, callId, code, served, charged, promptTokens, completionTokens } = notes;
  const { name, path } = notes.wire;
  const hasFailed = outcome === 'failed' || (status ?? 0) >= SERVER_FAULT;
  return {
    name: `POST ${path}`,
    kind: 'server',
    spanId: span.spanId,
    parentId: span.parentId,
    startMs: times.startMs,
    endMs: times.doneMs,
    hasFailed,
    attributes: {
      [HTTP.method]: 'POST',
      [HTTP.route]: path,
      [HTTP.status]: status,
      [ERROR_TYPE]: hasFailed ? (code ?? OTHER) : undefined,
      [GEN_AI.operation]: operationOf(name),
      [GEN_AI.requestModel]: model,
      [GEN_AI.isStream]: isStream,
      [GEN_AI.responseModel]: served?.isAnswered === true ? served.upstream.providerModel : undefined,
      [PURSER.mode]: caller?.mode,
      [PURSER.outcome]: outcome,
      [PURSER.code]: code,
      [PURSER.app]: caller?.app.appId,
      [PURSER.call]: callId,
      [PURSER.correlation]: correlationId,
      [PURSER.tries]: served?.tries,
      [PURSER.charged]: microsToWire(charged),
      [PURSER.inputTokens]: promptTokens,
      [PURSER.outputTokens]: completionTokens,
      [PURSER.sampling]: span.isSampled ? undefined : 'failure',
    },
  };
}

/** A span for each request that was sent. In the sandbox none was. */
function triesOf({ notes, outcome }: EndedCall, span: CallSpan, served: Served): readonly SpanFacts[] {
  const { failedTries = [], isAnswered, tries, sentMs, upstream } = served;
  const spans = failedTries.map((failed) => ({
    ...requestTo(failed.upstream, span, failed.count, notes),
    startMs: failed.sentMs,
    endMs: failed.endedMs,
    hasFailed: !OURS.has(failed.kind),
    attributes: { ...attributesOf(failed.upstream, failed.count, notes), ...failureOf(failed) },
  }));
  if (!isAnswered || tries === 0) return spans;
  const { times, failure, promptTokens, completionTokens, isStream } = notes;
  const hasFailed = outcome === 'failed';
  const answered = {
    ...requestTo(upstream, span, tries, notes),
    startMs: sentMs,
    endMs: times.endedMs || times.doneMs,
    hasFailed,
    attributes: {
      ...attributesOf(upstream, tries, notes),
      ...(hasFailed ? failureOf(failure ?? { kind: OTHER, status: undefined }) : undefined),
      [GEN_AI.responseModel]: upstream.providerModel,
      [GEN_AI.timeToFirstChunk]: isStream ? secondsBetween(sentMs, times.firstByteMs) : undefined,
      [GEN_AI.inputTokens]: promptTokens,
      [GEN_AI.outputTokens]: completionTokens,
    },
  };
  return [...spans, answered];
}

/** Returns the seconds between two times, to the microsecond. */
function secondsBetween(fromMs: number, toMs: number): number | undefined {
  const ms = msBetween(fromMs, toMs);
  return ms === undefined ? undefined : Math.round(ms * 1_000) / 1_000_000;
}

function requestTo({ providerModel }: Upstream, span: CallSpan, count: number, { wire }: CallNotes) {
  const name = `${operationOf(wire.name)} ${providerModel}`;
  return { name, kind: 'client', spanId: spanIdOfTry(span, count), parentId: span.spanId } as const;
}

function attributesOf(
  { provider, providerName, providerModel }: Upstream,
  count: number,
  { isStream, wire }: CallNotes,
) {
  return {
    [GEN_AI.operation]: operationOf(wire.name),
    [GEN_AI.provider]: standardNameOf(provider.kind) ?? providerName,
    [GEN_AI.requestModel]: providerModel,
    [GEN_AI.isStream]: isStream,
    [PURSER.provider]: providerName,
    [HTTP.resend]: count > 1 ? count - 1 : undefined,
  };
}

function standardNameOf(kind: string): string | undefined {
  return Object.hasOwn(PROVIDER_NAMES, kind) ? PROVIDER_NAMES[kind as keyof typeof PROVIDER_NAMES] : undefined;
}

function failureOf({ kind, status }: { readonly kind: string; readonly status: number | undefined }) {
  return { [ERROR_TYPE]: kind, [HTTP.status]: status };
}
