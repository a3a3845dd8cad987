import type { ValueFault } from '#gateway/parameter-values.ts';

/**
 * What is valid JSON and must go no further, wherever in the body it stands: a number too large for a double, which would
 * be written anew as `null`, and names by which careless programs behind us take a caller's value for their own prototype.
 * A property may be called `constructor`, as in a schema; it may not reach for a `prototype` from there.
 */
export function findUnsafe(body: Readonly<Record<string, unknown>>): ValueFault | undefined {
  const found = unsafeIn(body);
  return found === undefined ? undefined : { path: pathOf(found.steps), expects: found.expects };
}

interface Unsafe {
  /** From the value to the fault: names of objects and indices of arrays. */
  readonly steps: readonly (string | number)[];
  readonly expects: string;
}

/** Recurses no deeper than a body may be nested. */
function unsafeIn(value: unknown): Unsafe | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { steps: [], expects: 'a number that fits into 64 bits' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const isArray = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const found = (isArray ? undefined : unsafeName(name, member)) ?? unsafeIn(member);
    if (found !== undefined) return { ...found, steps: [isArray ? Number(name) : name, ...found.steps] };
  }
  return undefined;
}

function unsafeName(name: string, member: unknown): Unsafe | undefined {
  const expects = 'absent: no property may be called so here';
  if (name === '__proto__') return { steps: [], expects };
  const reaches = name === 'constructor' && typeof member === 'object' && member !== null;
  return reaches && Object.hasOwn(member, 'prototype') ? { steps: ['prototype'], expects } : undefined;
}

function pathOf(steps: readonly (string | number)[]): string {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return path.replace(/^\./, '');
}
