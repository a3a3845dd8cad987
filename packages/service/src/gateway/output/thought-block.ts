import type { JsonObject } from '#kernel/text/json.ts';

/** The items of `reasoning_details` that are one block, as they come. */
export interface ThoughtBlock {
  /** Whether thoughts of this key belong to it. Those without a key belong to the block that is open. */
  readonly isOf: (key: unknown) => boolean;
  readonly add: (detail: JsonObject) => void;
  /** The block as its vendor wants it back. Undefined if it has no seal: no vendor takes such a block back. */
  readonly sealed: () => readonly JsonObject[] | undefined;
}

export function createThoughtBlock(first: unknown): ThoughtBlock {
  let key = first;
  const details: JsonObject[] = [];
  return {
    isOf: (other) => {
      if (other === undefined || other === null || other === key) return true;
      if (key !== undefined && key !== null) return false;
      key = other;
      return true;
    },
    add: (detail) => {
      const last = details.at(-1);
      if (last === undefined || last['type'] !== detail['type'] || last['data'] !== undefined) details.push(detail);
      else details[details.length - 1] = joined(last, detail);
    },
    sealed: () => (details.some(({ data, signature }) => isSeal(data) || isSeal(signature)) ? details : undefined),
  };
}

function isSeal(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function joined(one: JsonObject, other: JsonObject): JsonObject {
  const text = joinedText(one['text'], other['text']);
  const summary = joinedText(one['summary'], other['summary']);
  return { ...one, ...other, ...(text === undefined ? {} : { text }), ...(summary === undefined ? {} : { summary }) };
}

function joinedText(one: unknown, other: unknown): string | undefined {
  if (typeof one !== 'string') return typeof other === 'string' ? other : undefined;
  return typeof other === 'string' ? one + other : one;
}
