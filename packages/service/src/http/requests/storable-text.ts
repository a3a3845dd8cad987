import { misshapen } from '#gateway/body/parse-body.ts';
import { pathOf, type Step } from '#gateway/body/value-path.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';

/**
 * Refuses a part of a request that contains text which the database cannot store: NUL, or half of a surrogate pair, in a
 * value or in a name. It checks every text of every route, so that no schema can forget the rule and no such text becomes a
 * 500.
 */
export function unstorableText(part: unknown): Refusal<'BAD_REQUEST'> | undefined {
  // A list of work instead of recursion, so that no nesting can exhaust the stack.
  const left: (readonly [steps: readonly Step[], value: unknown])[] = [[[], part]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [steps, value] = next;
    if (typeof value === 'string' && !isStorable(value)) return refusalAt(steps);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      const path = [...steps, Array.isArray(value) ? Number(name) : name];
      if (!isStorable(name)) return refusalAt(path);
      left.push([path, inner]);
    }
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function refusalAt(steps: readonly Step[]): Refusal<'BAD_REQUEST'> {
  return misshapen({ path: pathOf(steps), expects: 'text without NUL and without halves of surrogate pairs' });
}
