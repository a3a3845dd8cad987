import type { AppFacts } from '#developers/keys/directory.ts';
import type { IdempotencyKey } from '#idempotency/idempotency-key.ts';
import type { Idempotency } from '#idempotency/idempotency.ts';
import type { CallNotes } from '#gateway/call/call-notes.ts';
import type { CallSpan } from '#gateway/call/call-span.ts';
import type { Reply } from '#gateway/call/wire.ts';
import type { Model, Upstream } from '#catalogue/catalogue.ts';
import type { CallSession } from '#kernel/calls/call-session.ts';
import type { KeyBudget } from '#kernel/calls/hold.ts';
import type { AppId, CallId, CorrelationId, EndUserId, Mode } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Log } from '#kernel/log.ts';
import type { Signal } from '#kernel/work/signal.ts';
import type { NativeCall, UpstreamError } from '#providers/port/provider.ts';

/** A validated call for one end user. Nothing in it can still be refused for its form. */
export interface ChatCall {
  readonly callId: CallId;
  readonly correlationId: CorrelationId;
  /** The span of the call, for providers whose catalogue entry asks for it. */
  readonly span: CallSpan | undefined;
  readonly app: AppFacts;
  readonly userId: EndUserId;
  readonly model: Model;
  /** The upstreams that can serve this call, in the order in which they are asked (CC-16). */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly isStream: boolean;
  /** Writes the answer in the words of the caller's wire (WI-01). */
  readonly reply: Reply;
  /** What of the request was left out, because the model cannot do it. */
  readonly leftOut: readonly string[];
  /** The caller asked for the usage chunk of a stream (CC-12). */
  readonly wantsUsage: boolean;
  readonly choices: number;
  readonly prompt: PromptSize;
  /** How many tokens each choice was asked for. Above the model's most only on a wire that refuses a lowered limit. */
  readonly outputTokensAsked: number;
  /** How many tokens each choice may generate. Less than was asked for if a plain answer of that size could not be taken. */
  readonly outputTokensMax: number;
  /** The smallest answer worth a call: if the wallet affords less, the call is refused (WA-07). */
  readonly outputTokensLeast: number;
  /** The idempotency key. It is undefined if no later call can be a retry of this one (CC-14). */
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** The session that its client names. It is only counted (CP-19). */
  readonly session: CallSession | undefined;
  /** The monthly budget of its API key. Undefined if it has none (CP-08). */
  readonly budget: KeyBudget | undefined;
}

/** What is asked of a provider. Apart from its call, because the call is kept for as long as a stream is open. */
export interface Asked {
  /** The fields of the caller's request that are passed on. */
  readonly request: JsonObject;
  /** The request as JSON, without the fields that the service decides. */
  readonly requestText: string;
  /** The request as its caller wrote it. It is undefined if no upstream of the call speaks the caller's wire. */
  readonly native?: NativeCall | undefined;
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
  readonly notes: CallNotes;
  readonly log: Log;
  readonly drains: Drains;
  readonly pace: StreamPace;
  readonly idempotency: Idempotency;
  readonly rejections: Rejections;
}

/** How long a stream may keep its caller waiting for a sign of life, and the caller the stream. */
export interface StreamPace {
  /** After this time the status is 200, and a later failure is an error frame in the stream (ER-06). */
  readonly statusMsMax: number;
  /** The time between two frames after which a comment is sent. */
  readonly keepAliveMs: number;
  /** How long the caller may take nothing. If the provider is lost after that, it gave up waiting for the caller. */
  readonly heldUpMsMax: number;
}

/** The drains of this process. */
export interface Drains {
  /** Begins a drain. `giveUp` is called once, when this drain has reached its limit or is the oldest of too many. */
  readonly begin: (giveUp: () => void) => Drain;
}

/** A stream that is read to its end although its caller has left, so that its charge is known. */
export interface Drain {
  readonly read: (bytes: number) => void;
  readonly end: () => void;
}

export interface PromptSize {
  /** An upper bound: every token is at least one byte (WA-07). */
  readonly tokensMax: number;
  /** Our best guess at the tokens, for a call whose usage the provider did not report (CC-11). */
  readonly tokensEstimated: number;
  /** How many prompts these are, each with the context of the model. */
  readonly prompts: number;
}

/** The parts of a call that decide whether its provider takes it. */
export interface RequestOfCall {
  readonly call: {
    readonly app: { readonly appId: AppId };
    readonly userId: EndUserId;
    readonly model: { readonly id: string };
  };
  readonly asked: Pick<Asked, 'request' | 'native'>;
}

/** Requests that a provider has just rejected for their content, in this process (CC-15). */
export interface Rejections {
  /** The failure of this very request, if it would fail in the same way again. */
  readonly find: (mode: Mode, asking: RequestOfCall) => UpstreamError | undefined;
  /** Remembers the request if its provider rejected it; other failures are ignored. */
  readonly note: (mode: Mode, asking: RequestOfCall, fault: unknown) => void;
}
