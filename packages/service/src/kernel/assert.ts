/** Throws when something that must hold does not: a fault of ours, never of a caller. */
export function assert(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(`Assertion failed: ${message}`);
}

/** Marks the end of an exhaustive `switch`. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable value: ${String(value)}`);
}
