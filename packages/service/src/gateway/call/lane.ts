import type { TokenUsage } from '#catalogue/price.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import type { EarlierCall, HoldAnswer, HoldOutcome } from '#kernel/hold.ts';
import type { CallId, Mode } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import type { Refusal } from '#kernel/refusal.ts';
import type { Provider } from '#providers/provider.ts';

/**
 * All that differs between live and sandbox. Members are properties, not methods: the compiler then refuses a lane or
 * a hold of the other mode (methods are compared bivariantly).
 */
export interface Lane<M extends Mode> {
  readonly mode: M;
  /** Stream slot, wallet, cap and balance, in one atomic step; sets money aside or says why not (CC-10), or which attempt came first. */
  readonly placeHold: (call: ChatCall, joined?: CallId) => Promise<Hold<M> | EarlierCall | Refusal<HoldRefusalCode>>;
  /** Ends the call, once: takes its charge, at most the hold, and frees the rest. Gives what was charged. */
  readonly endHold: (hold: Hold<M>, ending: Ending) => Promise<Micros>;
  /** As `endHold`, unless a retry waits for the answer, which must be kept first: then undefined, and nothing ends. */
  readonly endUnlessJoined: (hold: Hold<M>, ending: Ending) => Promise<Micros | undefined>;
  readonly providerOf: (call: ChatCall) => Provider;
  /**
   * Its caller has left and it is read on: a new stream may have its slot, and then `onTaken` is called (LI-02). Call what
   * this gives when the stream has ended.
   */
  readonly offerSlot: (hold: Hold<M>, onTaken: () => void) => () => void;
}

/** What live and sandbox themselves are; `counted-lane.ts` makes lanes of them, whose calls are counted. */
export interface UncountedLane<M extends Mode> extends Pick<Lane<M>, 'mode' | 'providerOf' | 'offerSlot'> {
  readonly place: (call: ChatCall, joined: CallId | undefined) => Promise<HoldAnswer>;
  readonly refusalOf: (call: ChatCall, outcome: Exclude<HoldOutcome, 'granted'>) => Refusal<HoldRefusalCode>;
  /** `endHold`, or where it is `isUnkept` `endUnlessJoined`. */
  readonly settle: (hold: Hold<M>, ending: Ending, isUnkept: boolean) => Promise<EndedHold>;
}

export interface EndedHold {
  readonly charged: Micros;
  /** Nothing has ended: a retry waits for the answer, which must be kept first. */
  readonly isJoined?: true;
}

export type HoldRefusalCode =
  | 'CONCURRENT_STREAM_LIMIT'
  | 'PAYMENT_REQUIRED'
  | 'WALLET_SUSPENDED'
  | 'APP_SPEND_CAP_EXCEEDED';

export interface Hold<M extends Mode> {
  readonly mode: M;
  readonly call: ChatCall;
  readonly granted: Micros;
}

/** How a call ended, and what it is charged for that. */
export interface Ending {
  readonly outcome: 'answered' | 'abandoned' | 'failed';
  readonly charge: Micros;
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
  /** The provider's count contradicted itself, its own text or the limits that it was sent. */
  readonly isUsageClamped: boolean;
  /** It generated past the limit that it was sent (WA-07). */
  readonly isPastLimit: boolean;
}
