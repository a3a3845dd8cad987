import { CellAway } from '#kernel/faults/cell-away.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * Carries a refusal out of a handler of the planes, or an act on a page of operators. Everywhere else, refusals are returned as values; here
 * the framework calls the handlers, and an exception is its only way to end one early.
 */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

const AWAY_RETRY_SECONDS = 5;

/** What owners and operators get for a report that another cell did not answer: a sum without it would be wrong. Undefined if it is another fault. */
export function awayRefusal(fault: unknown): Refusal<'TOO_MANY_REQUESTS'> | undefined {
  if (!(fault instanceof CellAway)) return undefined;
  const message =
    'A part of this service does not answer, and figures without it would be wrong. Try again in a few seconds.';
  return refuse('TOO_MANY_REQUESTS', message, { retryAfterSeconds: AWAY_RETRY_SECONDS });
}
