import { UpstreamError } from '#providers/provider.ts';

/** Ends what is waited for too long. One timer serves a whole stream: making one for each read costs more than the read. */
interface Silence {
  /** A read begins. However many there are, they are waited for `ms` in all, until `broken` is called. */
  readonly begin: () => void;
  /** Something was said: the next wait is a new one. */
  readonly broken: () => void;
  /** What a read failed by: the end of our patience, where it was that. */
  readonly faultOf: (fault: unknown) => unknown;
  readonly stop: () => void;
}

export function createSilence(ms: number, giveUp: () => void): Silence {
  let isWaiting = false;
  let isTooLong = false;
  const timer = setTimeout(() => {
    if (!isWaiting) return;
    isTooLong = true;
    giveUp();
  }, ms);
  return {
    begin: () => {
      if (!isWaiting) timer.refresh();
      isWaiting = true;
    },
    broken: () => {
      isWaiting = false;
    },
    faultOf: (fault) =>
      isTooLong ? new UpstreamError('timeout', 'The provider sent no event for too long.', { cause: fault }) : fault,
    stop: () => clearTimeout(timer),
  };
}
