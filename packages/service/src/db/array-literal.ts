/**
 * PostgreSQL array literals for batched statements. The driver could build them, item by item through its type rules;
 * a join is several times faster and this is the hot path.
 */

/** For items that hold no character with a meaning in a literal: numbers, booleans, UUIDs. Undefined becomes null. */
export function plainArray(items: readonly (number | bigint | boolean | string | undefined)[]): string {
  return `{${items.map((item) => item ?? 'null').join(',')}}`;
}

/** For text: every item is quoted. Undefined becomes null. */
export function textArray(items: readonly (string | undefined)[]): string {
  return `{${items.map((item) => (item === undefined ? 'null' : quote(item))).join(',')}}`;
}

const SPECIAL = /["\\]/;

function quote(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`; // Names and ids, nearly always: nothing is searched for what to replace.
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
