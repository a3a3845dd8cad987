import { type Refusal, refuse } from '#kernel/refusal.ts';

/**
 * Refuses a part of a request that contains text which the database cannot store: NUL, or half of a surrogate pair. It
 * checks every text of every route, so that no schema can forget the rule and no such text becomes a 500.
 */
export function unstorableText(part: unknown): Refusal<'BAD_REQUEST'> | undefined {
  // A list of work instead of recursion, so that no nesting can exhaust the stack.
  const left: (readonly [path: string, value: unknown])[] = [['', part]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return refusalAt(path);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) left.push([path === '' ? name : `${path}.${name}`, inner]);
  }
  return undefined;
}

function refusalAt(path: string): Refusal<'BAD_REQUEST'> {
  const message = `\`${path}\`: must not contain NUL or half of a surrogate pair.`;
  return refuse('BAD_REQUEST', message, { param: path });
}
