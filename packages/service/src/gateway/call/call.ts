import type { AppFacts } from '#accounts/key-directory.ts';
import type { IdempotencyKey } from '#idempotency/idempotency-key.ts';
import type { Idempotency } from '#idempotency/idempotency.ts';
import type { Model } from '#catalogue/catalogue.ts';
import type { AppId, CallId, CorrelationId, EndUserId, Mode } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Log } from '#kernel/log.ts';
import type { Signal } from '#kernel/signal.ts';

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
  readonly idempotencyKey: IdempotencyKey | undefined;
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
  readonly idempotency: Idempotency;
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

export interface PromptSize {
  /** No prompt of this body has more tokens: every token is at least one byte (WA-07). */
  readonly tokensMax: number;
  /** Our best guess, for a call whose usage the provider never told (CC-11). */
  readonly tokensEstimated: number;
}

/** What of a call decides whether its provider takes it. */
export interface RequestOfCall {
  readonly call: {
    readonly app: { readonly appId: AppId };
    readonly userId: EndUserId;
    readonly model: { readonly id: string };
  };
  readonly asked: { readonly request: JsonObject };
}

/** Requests that a provider has just rejected for what they say, in this process (CC-15). */
export interface Rejections {
  /** True when this very request would only be rejected again. */
  readonly has: (mode: Mode, asking: RequestOfCall) => boolean;
  /** Remembers the request where this is how its provider failed. */
  readonly note: (mode: Mode, asking: RequestOfCall, fault: unknown) => void;
}
