import type { CallerSide, Drain } from '#gateway/call/call.ts';
import type { Hold, Lane } from '#gateway/call/lane.ts';
import type { Mode } from '#kernel/ids.ts';
import { OwnSignal, type Signal } from '#kernel/signal.ts';

/** What becomes of a provider's stream when its caller leaves. */
export interface CallerWatch {
  /** Ends the provider's stream. */
  readonly signal: Signal;
  readonly giveUp: () => void;
  /** So many more bytes were read for nobody. */
  readonly drained: (bytes: number) => void;
  /** The stream has ended: nobody is watched any more. */
  readonly stop: () => void;
}

/** Ends the provider's stream when its caller has left: at once where that stops its bill, else after a drain (CC-11). */
export function watchCaller<M extends Mode>(lane: Lane<M>, hold: Hold<M>, { gone, drains }: CallerSide): CallerWatch {
  const upstream = new OwnSignal();
  const giveUp = () => upstream.abort();
  let drain: Drain | undefined;
  let withdrawSlot: (() => void) | undefined;
  const onGone = () => {
    if (hold.call.model.onAbandon === 'cancel') return giveUp();
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
