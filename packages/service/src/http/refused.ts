import type { Refusal } from '#kernel/refusal.ts';

/**
 * Carries a refusal out of a handler of the planes. Everywhere else, refusals are returned as values; here the framework
 * calls the handlers, and an exception is its only way to end one early.
 */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
