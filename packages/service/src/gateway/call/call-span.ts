/**
 * The place of a call in a distributed trace (W3C Trace Context). A call has one only if the operator collects OpenTelemetry
 * traces. Nothing in it is about the call itself.
 */
export interface CallSpan {
  /**
   * The id of the trace, in 32 hexadecimal digits. It is the caller's if it sent a valid `traceparent`, otherwise a new
   * one.
   */
  readonly traceId: string;
  /**
   * The id of the span of the whole call, in 16 hexadecimal digits. Those of its parts are made from it (`spanIdOf`).
   */
  readonly spanId: string;
  /** The caller's span. Undefined if the trace begins here. */
  readonly parentId: string | undefined;
  readonly isSampled: boolean;
  /** The caller's `tracestate`, within the limits of the standard. */
  readonly state: string | undefined;
}

/** Begins the span of a call with what its caller sent. An invalid `traceparent` counts as none. */
export type BeginSpan = (traceparent: unknown, tracestate: unknown) => CallSpan;

/** The parts of a call. Tries follow: the first is `FIRST_TRY`. */
export const SPAN_PARTS = { admission: 1, hold: 2, settlement: 3 } as const;
const FIRST_TRY = 16;

/**
 * The id of a part's span: the call's own id with another last byte. So a try that tells its provider which span it is, and the
 * span that is exported when the call has ended, agree without keeping anything in between.
 */
export function spanIdOf({ spanId }: Pick<CallSpan, 'spanId'>, part: number): string {
  const last = Number.parseInt(spanId.slice(-2), 16) ^ part;
  return spanId.slice(0, -2) + last.toString(16).padStart(2, '0');
}

/** The span of a request to a provider. `count` is its place among those of the call, from 1. */
export function spanIdOfTry(span: Pick<CallSpan, 'spanId'>, count: number): string {
  return spanIdOf(span, FIRST_TRY + count - 1);
}

/** The header lines that tell a provider of the try's span. */
export function traceHeaders(span: CallSpan, count: number): Readonly<Record<string, string>> {
  const traceparent = `00-${span.traceId}-${spanIdOfTry(span, count)}-${span.isSampled ? '01' : '00'}`;
  return span.state === undefined ? { traceparent } : { traceparent, tracestate: span.state };
}
