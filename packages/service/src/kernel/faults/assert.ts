/**
 * Throws when something that must hold does not: a bug of ours, never a caller's mistake. Code that handles money asserts
 * before it writes and after it reads, so that a wrong amount stops here instead of reaching the ledger.
 */
export function assert(holds: boolean, message: string): asserts holds {
  if (!holds) throw assertionFault(message);
}

/** The same fault, for callbacks: they hand it on, because nobody catches what they throw. */
export function assertionFault(message: string): Error {
  return new Error(`Assertion failed: ${message}`);
}

/** Marks the end of an exhaustive `switch`: a case that is missing does not compile. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable value: ${String(value)}`);
}
