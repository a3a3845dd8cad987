import { type SteadyClock, steadyClock } from '#kernel/time/clock.ts';

/**
 * When a call reached each of its steps, by one steady clock: only differences mean anything. 0: it did not reach that step.
 * Taken once for each call, and read by its log line, its metrics and its trace. One kind of number in every field, and no
 * text: an open stream keeps this.
 */
export class CallTimes {
  /** The head of the request has come. */
  readonly startMs: number;
  /** The time when key, rate and the whole request had been accepted. What follows is the hold. */
  admittedMs = 0;
  /** The hold is placed. A retry has also waited for the earlier call, if that one failed. */
  heldMs = 0;
  /** The first request was sent to a provider. In the sandbox: the answer was begun. */
  askedMs = 0;
  /** The first of a stream came from the provider. A plain answer comes whole: 0. */
  firstByteMs = 0;
  /** The provider's answer has ended, or failed for good. What follows is the settlement. */
  endedMs = 0;
  /** The hold is settled or released, or its settlement is on disk until the database is back. */
  settledMs = 0;
  /** The answer has been handed over, or refused: the call is over. */
  doneMs = 0;

  constructor({ nowMs }: SteadyClock = steadyClock) {
    this.startMs = nowMs();
  }
}

/** How long a call took between two of its steps. Undefined if it did not reach one of them. */
export function msBetween(fromMs: number, toMs: number): number | undefined {
  return fromMs > 0 && toMs > 0 ? toMs - fromMs : undefined;
}
