import type { CallerSide, Drain } from '#gateway/call/call.ts';
import type { Hold, Lane } from '#gateway/call/lane.ts';
import type { Serving } from '#gateway/call/serving.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { OwnSignal, type Signal } from '#kernel/work/signal.ts';

/** Watches whether the caller of a stream is still there, and ends the provider's stream if not. */
export interface CallerWatch {
  /** The signal that is aborted when the provider's stream is to end. */
  readonly signal: Signal;
  readonly giveUp: () => void;
  /** Counts bytes that were read after the caller had left. */
  readonly drained: (bytes: number) => void;
  /** Stops the watch. Call it when the stream has ended, because it need not care about a caller who leaves later. */
  readonly stop: () => void;
}

interface Watched<M extends Mode> {
  readonly hold: Hold<M>;
  readonly serving: Serving;
}

/**
 * Ends the provider's stream when its caller leaves. At once if that stops the provider's bill; otherwise the stream is
 * drained, so that its charge is known (CC-11).
 */
export function watchCaller<M extends Mode>(
  lane: Lane<M>,
  { hold, serving }: Watched<M>,
  { gone, drains }: CallerSide,
): CallerWatch {
  const upstream = new OwnSignal();
  const giveUp = () => upstream.abort();
  let drain: Drain | undefined;
  let withdrawSlot: (() => void) | undefined;
  const onGone = () => {
    if (serving.upstream.onAbandon === 'cancel') return giveUp();
    drain = drains.begin(giveUp);
    withdrawSlot = lane.offerSlot(hold, giveUp);
  };
  if (gone.aborted) onGone();
  else gone.addEventListener('abort', onGone);
  return {
    signal: upstream,
    giveUp,
    drained: (bytes) => drain?.read(bytes),
    stop: () => {
      gone.removeEventListener('abort', onGone);
      drain?.end();
      withdrawSlot?.();
    },
  };
}
