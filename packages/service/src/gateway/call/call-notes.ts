import type { Caller } from '#developers/keys/directory.ts';
import type { ErrorCode } from '@purser/contract/errors.ts';
import type { TokenUsage } from '#catalogue/price.ts';
import type { CallId, EndUserId } from '#kernel/values/ids.ts';
import type { CallSession } from '#kernel/calls/call-session.ts';
import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';
import type { CallSpan } from '#gateway/call/call-span.ts';
import type { Served } from '#gateway/call/serving.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { type Micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { UpstreamError } from '#providers/port/provider.ts';

/** How a call with a hold ended, as the lane's `Ending` says it. */
interface Settled {
  readonly outcome: 'answered' | 'abandoned' | 'failed';
  readonly usage: Pick<TokenUsage, 'promptTokens' | 'completionTokens'>;
}

/** Which upstream failed a call, and how. Nothing in it comes from the provider but its status (ER-03). */
export interface Failure {
  readonly provider: string;
  readonly providerModel: string;
  readonly kind: UpstreamError['kind'];
  /** The provider's HTTP status. Undefined if it sent none, or if the failure came after a 200. */
  readonly status: number | undefined;
}

/**
 * When a call reached each of its steps, by one steady clock: only differences mean anything. 0: it did not reach that step.
 * Taken once for each call, and read by its log line, its metrics and its trace. One kind of number in every field, and no
 * text: an open stream keeps this.
 */
class CallTimes {
  /** The head of the request has come. */
  readonly startMs: number;
  /** The time when key, rate and the whole request had been accepted. What follows is the hold. */
  admittedMs = 0;
  /** The hold is placed. A retry has also waited for the earlier call, if that one failed. */
  heldMs = 0;
  /** The first request was sent to a provider. In the sandbox: the answer was begun. */
  askedMs = 0;
  /** The first of a stream came from the provider. A plain answer comes whole: 0. */
  firstByteMs = 0;
  /** The provider's answer has ended, or failed for good. What follows is the settlement. */
  endedMs = 0;
  /** The hold is settled or released, or its settlement is on disk until the database is back. */
  settledMs = 0;
  /** The answer has been handed over, or refused: the call is over. */
  doneMs = 0;

  constructor({ nowMs }: SteadyClock = steadyClock) {
    this.startMs = nowMs();
  }
}

/** How long a call took between two of its steps. Undefined if it did not reach one of them. */
export function msBetween(fromMs: number, toMs: number): number | undefined {
  return fromMs > 0 && toMs > 0 ? toMs - fromMs : undefined;
}

/**
 * What is known of a call, written as it becomes known and read once, when the call has ended (CC-19). A class, so that all
 * notes have one shape: there is one for every open stream.
 */
export class CallNotes {
  /** The wire by which the call came. */
  readonly wire: Pick<Wire, 'name' | 'path' | 'takesLargeBodies' | 'errorOf' | 'takesKeyHeader'>;
  readonly times = new CallTimes();
  caller: Caller | undefined = undefined;
  /** The span of the call. It is undefined if the operator collects no traces, or nobody knows the caller's key. */
  span: CallSpan | undefined = undefined;
  userId: EndUserId | undefined = undefined;
  /** The session that its client names, once its key is known. */
  session: CallSession | undefined = undefined;
  /** The resolved identifier. */
  model: string | undefined = undefined;
  /** The id of the call. If this is a replay, it is that of the call that was answered first. */
  callId: CallId | undefined = undefined;
  /** Where the call went, if it had a hold. It says who served it. */
  served: Served | undefined = undefined;
  isStream = false;
  isReplay = false;
  /** The code of the refusal or fault that the caller was told, or would have been told. */
  code: ErrorCode | undefined = undefined;
  /** The refusal of a request in which something is wrong, for its owner, who may read its field and message later (CC-19). */
  badRequest: Refusal | undefined = undefined;
  /** Which provider failed it, and how. Of several that were asked: the one with the most telling failure. */
  failure: Failure | undefined = undefined;
  /** The outcome of the call. It is undefined if the call had no hold, or could not be settled. */
  outcome: Settled['outcome'] | undefined = undefined;
  promptTokens = 0;
  completionTokens = 0;
  charged: Micros = ZERO_MICROS;

  constructor(wire: CallNotes['wire']) {
    this.wire = wire;
  }

  settled({ outcome, usage }: Settled, charged: Micros): void {
    this.times.settledMs = steadyClock.nowMs();
    this.outcome = outcome;
    this.promptTokens = usage.promptTokens;
    this.completionTokens = usage.completionTokens;
    this.charged = charged;
  }
}
