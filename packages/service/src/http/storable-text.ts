import { type Refusal, refuse } from '#kernel/refusal.ts';

/**
 * Refuses a part of a request with text that the database cannot hold: NUL, or half of a surrogate pair. One rule for every
 * text of every route, so that no schema has to say it.
 */
export function unstorableText(part: unknown): Refusal<'BAD_REQUEST'> | undefined {
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
  const message = `\`${path}\`: holds NUL or half of a surrogate pair, which no text here may.`;
  return refuse('BAD_REQUEST', message, { param: path });
}
