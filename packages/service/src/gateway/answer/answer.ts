import type { AskingCall, CallerSide, ChatCall } from '#gateway/call/call.ts';
import type { StreamReply } from '#gateway/call/wire.ts';
import type { Upstream } from '#catalogue/catalogue.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { errorTextOf } from '#providers/errors/redacted-text.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import type { CallId, Mode } from '#kernel/values/ids.ts';
import { noteFailure } from '#gateway/answer/failures.ts';
import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/answer/upstream-refusals.ts';
import type { Ending, Hold, Lane } from '#gateway/call/lane.ts';
import { describeFault } from '#kernel/log.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';

/** The answer of a call that was not refused. */
export type Answer = PlainAnswer | StreamAnswer | ReplayedAnswer;

export interface PlainAnswer {
  readonly kind: 'plain';
  readonly facts: AnswerFacts;
  readonly charged: Micros;
  /** The completion as JSON. */
  readonly text: string;
  readonly onSent?: OnSent | undefined;
}

/** The kept answer of an earlier call, byte for byte (CC-14). Facts and charge are those of the earlier call. */
export interface ReplayedAnswer {
  readonly kind: 'replayed';
  readonly facts: AnswerFacts;
  readonly charged: Micros;
  readonly isStream: boolean;
  readonly text: string;
  readonly onSent?: OnSent;
}

/** It is called once, and told whether the caller received the whole answer. */
type OnSent = (isDelivered: boolean) => void;

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly facts: AnswerFacts;
  /**
   * Runs the stream to its end, settles it and ends the answer. Must be called once, even if the caller has left: the hold
   * is open. Never rejects.
   */
  readonly run: (writer: FrameWriter) => Promise<void>;
}

/** Returns undefined if the caller can take more at once. Nearly every frame does, and a promise costs more than a frame. */
type WriteFrames = (frames: string) => Promise<void> | undefined;

/** Writes to a caller. `http` implements it, so that no room of the gateway knows the error envelope. */
export interface FrameWriter {
  /** Writes whole frames. */
  readonly write: WriteFrames;
  /** Writes the last frames and ends the answer. */
  readonly end: WriteFrames;
  /**
   * Writes the last frames and then the refusal, as `write` words it, and ends the answer (ER-06). An undefined refusal is a fault of
   * ours.
   */
  readonly fail: (
    frames: string,
    refusal: Refusal | undefined,
    write: StreamReply['fail'],
  ) => Promise<void> | undefined;
}

interface AnswerFacts {
  readonly callId: CallId;
  /** What of the request was left out, because the model cannot do it. */
  readonly leftOut: readonly string[];
  /**
   * It is set when the wallet affords less output than was asked for, or when an answer of that size could not be
   * taken.
   */
  readonly loweredOutputTokens: number | undefined;
}

export function answerFactsOf(call: ChatCall, outputTokens: number): AnswerFacts {
  const loweredOutputTokens = outputTokens < call.outputTokensAsked ? outputTokens : undefined;
  return { callId: call.callId, leftOut: call.leftOut, loweredOutputTokens };
}

interface FailedCall<M extends Mode> {
  readonly hold: Hold<M>;
  /** What the call is charged in spite of the failure. */
  readonly ending: Ending;
  readonly caller: CallerSide;
  /** The one whose failure the caller is told. Left out: the one that was asked last, or would have been asked first. */
  readonly upstream?: Upstream;
  /** What was asked, so that a rejection is remembered (CC-15). A stream has noted it when it opened, and let it go. */
  readonly asking?: AskingCall;
}

/**
 * Ends a plain or streamed call that failed, and returns the refusal that its caller gets. Throws the fault again if the
 * provider is not to blame for it. Throws the settlement's fault if the hold could not be ended.
 */
export async function endFailed<M extends Mode>(
  lane: Lane<M>,
  { hold, ending, caller, asking, upstream = caller.notes.served?.upstream ?? hold.call.upstreams[0] }: FailedCall<M>,
  fault: unknown,
): Promise<Refusal<UpstreamRefusalCode>> {
  if (asking !== undefined && hold.plays === undefined) caller.rejections.note(lane.mode, asking, fault);
  if (fault instanceof UpstreamError) logFailure(hold, caller, fault, upstream);
  caller.notes.times.endedMs ||= steadyClock.nowMs();
  const { charged } = await lane.settle(hold, ending, 'always');
  caller.notes.settled(ending, charged);
  if (!(fault instanceof UpstreamError)) throw fault;
  return refusalOfUpstream(fault);
}

function logFailure<M extends Mode>(
  { mode, call }: Hold<M>,
  { gone, log, notes }: CallerSide,
  fault: UpstreamError,
  upstream: Upstream,
): void {
  const isGone = gone.aborted;
  if (mode === 'sandbox' && !isGone) return; // The caller asked for this failure.
  // The provider has done nothing wrong if we gave the call up.
  if (fault.kind !== 'unsent' && fault.kind !== 'given-up') notes.failure = noteFailure(upstream, fault);
  const { kind, status } = fault;
  const { providerName: provider, providerModel } = upstream;
  const facts = {
    callId: call.callId,
    provider,
    providerModel,
    kind,
    status,
    said: errorTextOf(fault),
    isGone,
    fault: describeFault(fault),
  };
  log.warn(facts, call.isStream ? 'a stream ended early' : 'the provider failed a call');
}
