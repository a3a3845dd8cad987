import type { TokenUsage } from '#catalogue/price.ts';
import type { AskingCall, ChatCall, Gone } from '#gateway/call/call.ts';
import type { Route } from '#gateway/call/route.ts';
import type { EarlierCall } from '#kernel/calls/hold.ts';
import type { CallId, Mode } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import type { Provider } from '#providers/port/provider.ts';

/**
 * All that differs between live and sandbox. Members are properties, not methods, because the compiler compares methods
 * bivariantly: as properties, it refuses a lane or a hold of the other mode.
 */
export interface Lane<M extends Mode> {
  readonly mode: M;
  /**
   * Checks stream slot, wallet, cap and balance and sets money aside, in one atomic step (CC-10). `joined`: the earlier
   * call that this one waits for already.
   */
  readonly place: (call: ChatCall, joined?: CallId) => Promise<Placed<M>>;
  /**
   * Ends the call, once: charges it, at most its hold, and frees the rest. `unless-joined` ends nothing if a retry waits
   * for the answer, because that answer must be kept before the hold is gone (CC-14).
   */
  readonly settle: (hold: Hold<M>, ending: Ending, when: 'always' | 'unless-joined') => Promise<EndedHold>;
  /** How long its vendor says that the prompt of a call is. Undefined if it does not say. Without a hold, because it is free. */
  readonly countPrompt?: (asking: AskingCall) => Promise<number | undefined>;
  /** The way of a call that has its hold to those who may serve it. `gone`: its caller has left. */
  readonly routeOf: (hold: Hold<M>, gone: Gone) => Route;
  /** Who is asked now. */
  readonly providerOf: (hold: Hold<M>, route: Route) => Provider;
  /**
   * Offers the slot of a stream that is read on although its caller has left. A new stream may take it, and then `onTaken`
   * is called (LI-02). Call the function it returns when the stream has ended.
   */
  readonly offerSlot: (hold: Hold<M>, onTaken: () => void) => () => void;
}

/** What became of a call that asked for a hold. */
export type Placed<M extends Mode> = PlacedHold<M> | RefusedHold | EarlierCall;

export interface PlacedHold<M extends Mode> {
  readonly kind: 'placed';
  readonly hold: Hold<M>;
}

export interface RefusedHold {
  readonly kind: 'refused';
  readonly refusal: Refusal<HoldRefusalCode>;
}

export interface EndedHold {
  readonly charged: Micros;
  /** Whether nothing was ended, because a retry waits for the answer, which must be kept first. Only after `unless-joined`. */
  readonly isJoined?: true;
}

export type HoldRefusalCode =
  | 'CONCURRENT_STREAM_LIMIT'
  | 'TOO_MANY_REQUESTS'
  | 'PAYMENT_REQUIRED'
  | 'WALLET_SUSPENDED'
  | 'APP_SPEND_CAP_EXCEEDED'
  | 'KEY_BUDGET_EXCEEDED';

export interface Hold<M extends Mode> {
  readonly mode: M;
  readonly call: ChatCall;
  readonly granted: Micros;
  /** The outcome that this call plays in place of its model's, in the sandbox only (decision 19). */
  readonly plays?: string | undefined;
}

/** How a call ended, and what it is charged for that. */
export interface Ending {
  readonly outcome: 'answered' | 'abandoned' | 'failed';
  readonly charge: Micros;
  /** The price by which it is charged, which is that of the upstream that served. Undefined if none did. */
  readonly priceId: bigint | undefined;
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
  /** The provider's count contradicted itself, its own text or the limits that it was sent. */
  readonly isUsageClamped: boolean;
  /** Whether the provider generated past the limit that it was sent (WA-07). */
  readonly isPastLimit: boolean;
}
