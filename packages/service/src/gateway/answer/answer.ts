import type { AskingCall, ChatCall } from '#gateway/call/call.ts';
import { outputTokensWithin } from '#gateway/usage/hold-request.ts';
import type { CallId } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Micros } from '#kernel/micros.ts';
import type { ProviderCall } from '#providers/provider.ts';

/** What a call that was not refused answers. */
export type Answer = PlainAnswer | StreamAnswer | ReplayedAnswer;

export interface PlainAnswer {
  readonly kind: 'plain';
  readonly facts: AnswerFacts;
  readonly charged: Micros;
  readonly completion: JsonObject;
  readonly onSent?: OnSent | undefined;
}

/** The answer of an earlier attempt, byte for byte (CC-14). Its facts and its charge are those of that one. */
export interface ReplayedAnswer {
  readonly kind: 'replayed';
  readonly facts: AnswerFacts;
  readonly charged: Micros;
  readonly isStream: boolean;
  readonly text: string;
  readonly onSent?: OnSent;
}

/** Told once whether the caller was there for all of the answer. */
type OnSent = (isDelivered: boolean) => void;

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly facts: AnswerFacts;
  /**
   * Runs the stream to its end and settles it, and ends the answer: must be called once, also for a caller who has left.
   * What the writer gives back resolves when the caller can take more, or is gone. Never rejects.
   */
  readonly run: (writer: FrameWriter) => Promise<void>;
}

/** Undefined where the caller can take more at once: nearly every frame is such a one, and a promise costs more than it. */
type WriteFrames = (frames: string) => Promise<void> | undefined;

/** The way to a caller. */
export interface FrameWriter {
  /** Writes whole frames. */
  readonly write: WriteFrames;
  /** Writes the last ones, and ends the answer. */
  readonly end: WriteFrames;
}

interface AnswerFacts {
  readonly callId: CallId;
  /** Set when the wallet affords less output than was asked for. */
  readonly loweredOutputTokens: number | undefined;
}

export function answerFactsOf(call: ChatCall, outputTokens: number): AnswerFacts {
  const loweredOutputTokens = outputTokens < call.outputTokensMax ? outputTokens : undefined;
  return { callId: call.callId, loweredOutputTokens };
}

/** The provider's call, with the output that the granted hold pays for. */
export function providerCallOf({ call, asked }: AskingCall, granted: Micros): ProviderCall {
  return {
    ...asked,
    providerModel: call.model.providerModel,
    outputTokens: outputTokensWithin(call, granted),
    outputLimitParameter: call.model.outputLimitParameter,
    timeoutMs: call.model.timeoutMs,
  };
}
