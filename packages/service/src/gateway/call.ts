import type { AppFacts } from '#accounts/key-directory.ts';
import type { Attempt } from '#attempts/attempt.ts';
import type { Attempts } from '#attempts/attempts.ts';
import type { Model } from '#catalogue/catalogue.ts';
import { ceilingOf, outputWithin } from '#catalogue/price.ts';
import type { HoldRequest } from '#kernel/hold.ts';
import type { CallId, CorrelationId, EndUserId } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Log } from '#kernel/log.ts';
import { type Micros, micros } from '#kernel/micros.ts';
import type { Signal } from '#kernel/signal.ts';
import { measureImages } from '#gateway/messages.ts';
import type { Rejections } from '#gateway/rejections.ts';

/** A validated call for one end user: all that the lanes need, and nothing that may still be refused for its form. */
export interface ChatCall {
  readonly callId: CallId;
  readonly correlationId: CorrelationId;
  readonly app: AppFacts;
  readonly userId: EndUserId;
  readonly model: Model;
  readonly isStream: boolean;
  /** The caller asked for the usage chunk of a stream (CC-12). */
  readonly wantsUsage: boolean;
  readonly choices: number;
  readonly prompt: PromptSize;
  /** What each choice may generate: the caller's limit or the model's default, never above the model's. */
  readonly outputTokensMax: number;
  /** Undefined for a call that nothing can be a retry of (CC-14). */
  readonly attempt: Attempt | undefined;
}

/** What is asked of a provider. Apart from its call, which is kept for as long as a stream is open. */
export interface Asked {
  /** What of the caller's request is passed on. */
  readonly request: JsonObject;
  /** The same as JSON, without what is ours to decide. */
  readonly requestText: string;
}

/** A call on its way to its provider. */
export interface AskingCall {
  readonly call: ChatCall;
  readonly asked: Asked;
}

/** Whether a caller has left. */
export type Gone = Signal;

/** The caller's side of a running call. */
export interface CallerSide {
  readonly gone: Gone;
  readonly log: Log;
  readonly drains: Drains;
  readonly pace: StreamPace;
  readonly attempts: Attempts;
  readonly rejections: Rejections;
}

/** How long a stream may keep its caller waiting for a sign. */
export interface StreamPace {
  /** For the status: then it is 200, and what fails afterwards is told in the stream (ER-06). */
  readonly statusMsMax: number;
  /** Between two frames: then there is a comment. */
  readonly keepAliveMs: number;
}

/** The drains of this process, the oldest first. */
export interface Drains {
  /** `giveUp` is called once, when this one has gone far enough or is the oldest of too many. */
  readonly begin: (giveUp: () => void) => Drain;
}

/** A stream that is read to its end, so that its charge is known, although its caller has left. */
export interface Drain {
  readonly read: (bytes: number) => void;
  readonly end: () => void;
}

interface PromptSize {
  /** No prompt of this body has more tokens: every token is at least one byte (WA-07). */
  readonly tokensMax: number;
  /** Our best guess, for a call whose usage the provider never told (CC-11). */
  readonly tokensEstimated: number;
}

/** English prose runs to about four bytes a token, code and other scripts to fewer: close enough for an estimate. */
const BYTES_PER_TOKEN = 4;
/** At least this is set aside, so that no hold is empty and the smallest cap refuses every call (WA-07, SB-06). */
const HOLD_MIN = micros(2n);

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Sizes the prompt of a body of `bodyBytes` bytes. Images count by the model's figure, not by their bytes. */
export function sizePrompt(model: Model, messages: readonly JsonObject[], bodyBytes: number): PromptSize {
  const { images, dataUrlBytes } = measureImages(messages);
  const textBytes = bodyBytes - dataUrlBytes;
  const imageTokens = images * (model.imageTokensMax ?? 0);
  return {
    tokensMax: textBytes + imageTokens + model.promptOverheadTokens,
    tokensEstimated: estimateTokens(textBytes) + imageTokens,
  };
}

/**
 * What the call asks of its wallet: the smallest hold worth having and the largest that it can cost. Between them, less
 * hold means less output. `joined`: the earlier attempt that it waits for already.
 */
export function holdRequestOf(call: ChatCall, joined?: CallId): HoldRequest {
  const { callId, app, userId, model, outputTokensMax, choices, prompt } = call;
  const leastOutput = Math.min(model.minOutputTokens, outputTokensMax);
  const least = ceilingOf(model.price, prompt.tokensMax, leastOutput * choices);
  const most = ceilingOf(model.price, prompt.tokensMax, outputTokensMax * choices);
  const streamsMax = call.isStream ? app.limits.maxStreamsPerUser : 0;
  const attempt = call.attempt && { ...call.attempt, ...(joined && { joined }) };
  const range = { least: atLeastMinimum(least), most: atLeastMinimum(most) };
  return { callId, appId: app.appId, userId, ...range, streamsMax, attempt };
}

function atLeastMinimum(amount: Micros): Micros {
  return amount > HOLD_MIN ? amount : HOLD_MIN;
}

/** The output limit of each choice that a hold affords: what is sent to the provider (WA-07). */
export function outputTokensWithin(call: ChatCall, granted: Micros): number {
  const { model, outputTokensMax, choices, prompt } = call;
  return Math.floor(outputWithin(model.price, prompt.tokensMax, outputTokensMax * choices, granted) / choices);
}
