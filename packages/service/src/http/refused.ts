import type { Refusal } from '#kernel/refusal.ts';

/** A refusal on its way out of a handler. Nothing else is thrown for an expected "no". */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
