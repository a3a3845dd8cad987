/**
 * PostgreSQL array literals for batched statements. The driver could build them, but it takes each item through its type
 * rules. A join is several times faster, and this is the hot path.
 */

/**
 * Writes an array of items that need no quotes: numbers, booleans, UUIDs. Undefined becomes null. Use `textArray` for
 * anything that a caller sent.
 */
export function plainArray(items: readonly (number | bigint | boolean | string | undefined)[]): string {
  return `{${items.map((item) => item ?? 'null').join(',')}}`;
}

/** Writes an array of texts and quotes each. Undefined becomes null. */
export function textArray(items: readonly (string | undefined)[]): string {
  return `{${items.map((item) => (item === undefined ? 'null' : quote(item))).join(',')}}`;
}

const SPECIAL = /["\\]/;

function quote(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`; // Names and ids have nothing to escape, and nearly every text is one.
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
