import type { Asked } from '#gateway/call/call.ts';
import type { Served } from '#gateway/call/serving.ts';
import type { Signal } from '#kernel/work/signal.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/**
 * The way of one call from upstream to upstream, one at a time, until one of them serves it (CC-16). Each try is `begin`, the
 * request, and then `answered` or `failed`. A stream whose first chunks were answered ends with `ended` as well.
 */
export interface Route extends Served {
  /** Which of the provider's keys is used, from 0. */
  readonly key: number;
  /** The output limit of each choice. It is the same at every upstream. */
  readonly outputTokens: number;
  /**
   * Goes to the next upstream. Undefined if the request can be sent. A promise, if the call has to wait for its turn at this provider:
   * it rejects like a provider that throttles. Throws in the same way if there is no place to wait.
   */
  readonly begin: () => Promise<void> | undefined;
  /** The request of this try, with what is left of the call's time. */
  readonly callOf: (asked: Asked) => ProviderCall;
  /** The signal for a streamed request of this try: aborted with `signal`, and if no first chunk comes in time. */
  readonly signalFor: (signal: Signal) => Signal;
  /** The whole answer has come, or the first chunks of a stream. */
  readonly answered: () => void;
  /** The try failed. Undefined if another upstream is to be asked. Otherwise the failure that the caller is to get. */
  readonly failed: (fault: unknown) => unknown;
  /** A call that was answered has ended, and its place at the provider is free. `fault`: the stream broke. May be called again. */
  readonly ended: (fault?: unknown) => void;
}
