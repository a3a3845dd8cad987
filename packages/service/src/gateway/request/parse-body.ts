import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { ValueFault } from '#gateway/request/parameter-values.ts';

/** The root value is level 1 (CC-07). */
export const DEPTH_MAX = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Reads a body as a JSON object: depth, UTF-8, JSON, nothing unsafe (CC-07). Depth first, because deep JSON overflows the parser's stack. */
export function parseBody(bytes: Buffer): JsonObject | Refusal<'BAD_REQUEST'> {
  if (isDeeperThan(bytes, DEPTH_MAX)) {
    return refuse('BAD_REQUEST', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse('BAD_REQUEST', 'The body is not valid UTF-8.');
  const value = parseJson(text);
  if (value === undefined) return refuse('BAD_REQUEST', 'The body is not valid JSON.');
  if (!isJsonObject(value)) return refuse('BAD_REQUEST', 'The body must be a JSON object.');
  const unsafe = findUnsafe(value);
  return unsafe === undefined ? value : misshapen(unsafe);
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

/** True if brackets outside of strings nest deeper than `levels`. Stops at the first one that does. */
export function isDeeperThan(bytes: Buffer, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = endOfString(bytes, index + 1);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
    }
  }
  return false;
}

/** The offset of the quote that ends the string, or the end of the bytes. Uses `indexOf`, which is native: prompts are long. */
function endOfString(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (end - escapes > from && bytes[end - escapes - 1] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
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
