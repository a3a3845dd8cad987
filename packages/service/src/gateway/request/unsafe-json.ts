import type { ValueFault } from '#gateway/request/parameter-values.ts';
import type { JsonObject } from '#kernel/json.ts';

/**
 * Finds valid JSON that must go no further: a number too large for a double, because we would write it as `null`, and names
 * by which careless programs behind us take a caller's value for their own prototype. A property may be called `constructor`,
 * as schemas have it, but may not hold a `prototype`.
 */
export function findUnsafe(body: JsonObject): ValueFault | undefined {
  const found = unsafeIn(body);
  return found === undefined ? undefined : { path: pathOf(found.steps), expects: found.expects };
}

interface Unsafe {
  /** From the value to the fault: names of objects and indices of arrays. */
  readonly steps: readonly (string | number)[];
  readonly expects: string;
}

/** Recurses as deep as a body may be nested, which is bounded. Plain loops, because a megabyte has hundreds of thousands of values. */
function unsafeIn(value: unknown): Unsafe | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { steps: [], expects: 'a number that fits into 64 bits' };
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? unsafeItem(value) : unsafeMember(value as JsonObject);
}

function unsafeItem(items: readonly unknown[]): Unsafe | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const found = unsafeIn(items[index]);
    if (found !== undefined) return { ...found, steps: [index, ...found.steps] };
  }
  return undefined;
}

function unsafeMember(holder: JsonObject): Unsafe | undefined {
  for (const name of Object.keys(holder)) {
    const found = unsafeName(name, holder) ?? unsafeIn(holder[name]);
    if (found !== undefined) return { ...found, steps: [name, ...found.steps] };
  }
  return undefined;
}

function unsafeName(name: string, holder: JsonObject): Unsafe | undefined {
  const expects = 'absent: no property may be called so here';
  if (name === '__proto__') return { steps: [], expects };
  if (name !== 'constructor') return undefined;
  const member = holder[name];
  const reaches = typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype');
  return reaches ? { steps: ['prototype'], expects } : undefined;
}

function pathOf(steps: readonly (string | number)[]): string {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return path.replace(/^\./, '');
}
