import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ValueFault } from '#gateway/parameters/values.ts';
import { countMembers } from '#gateway/body/json-bytes.ts';
import { findRepeatedName } from '#gateway/body/repeated-names.ts';
import { pathOf, type Step } from '#gateway/body/value-path.ts';

/** The root value is level 1 (CC-07). */
export const DEPTH_MAX = 32;

/**
 * Reads a body as a JSON object: depth, UTF-8, JSON, nothing unsafe (CC-07), no name twice in an object (CC-20). Depth first, because
 * deep JSON overflows the parser's stack. Bodies of very many values have their turns (`http/requests/heavy-bodies.ts`).
 */
export function parseBody(bytes: Buffer): JsonObject | Refusal<'BAD_REQUEST'> {
  const membersWritten = countMembers(bytes, DEPTH_MAX);
  if (membersWritten === undefined) {
    return refuse('BAD_REQUEST', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse('BAD_REQUEST', 'The body is not valid UTF-8.');
  const value = parseJson(text);
  if (value === undefined) return refuse('BAD_REQUEST', 'The body is not valid JSON.');
  if (!isJsonObject(value)) return refuse('BAD_REQUEST', 'The body must be a JSON object.');
  membersSeen = 0;
  const unsafe = findUnsafe(value);
  if (unsafe !== undefined) return misshapen(unsafe);
  // The parser keeps the last of two members with one name. Fewer members than were written therefore mean such a name.
  const repeated = membersSeen === membersWritten ? undefined : findRepeatedName(bytes);
  return repeated === undefined ? value : misshapen(repeated);
}

const SHOWN_CHARACTERS_MAX = 128;

/** The refusal for a fault in the body. Its path holds names that the caller chose. */
export function misshapen({ path, expects }: ValueFault): Refusal<'BAD_REQUEST'> {
  const shown = shownOf(path);
  return refuse('BAD_REQUEST', `\`${shown}\` must be ${expects}.`, { param: shown });
}

/** What a caller sent, in the form in which a message may repeat it: short, and on one line of a terminal or a log. */
export function shownOf(text: string): string {
  const part = text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}...`;
  return part.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\ufffd');
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Finds valid JSON that must go no further: a number too large for a double, because we would write it as `null`, and names
 * by which careless programs behind us take a caller's value for their own prototype. A property may be called `constructor`,
 * as schemas have it, but may not hold a `prototype`.
 */
function findUnsafe(body: JsonObject): ValueFault | undefined {
  const found = unsafeIn(body);
  return found === undefined ? undefined : { path: pathOf(found.steps), expects: found.expects };
}

/** The members of the values that `unsafeIn` has looked at since this was set to 0. A variable, because a call walks them all. */
let membersSeen = 0;

interface Unsafe {
  /** The steps from the value to the fault: names of objects and indices of arrays. */
  readonly steps: readonly Step[];
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
  const names = Object.keys(holder);
  membersSeen += names.length;
  for (const name of names) {
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
