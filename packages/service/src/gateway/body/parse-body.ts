import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ValueFault } from '#gateway/parameters/values.ts';
import { pathOf, type Step } from '#gateway/body/value-path.ts';

/** The bytes of JSON that a scan acts on. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;

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
    const isSuspect = name === '__proto__' || name === 'constructor';
    const found = (isSuspect ? unsafeName(name, holder) : undefined) ?? unsafeIn(holder[name]);
    if (found !== undefined) return { ...found, steps: [name, ...found.steps] };
  }
  return undefined;
}

function unsafeName(name: string, holder: JsonObject): Unsafe | undefined {
  const expects = 'absent: no property may be called so here';
  if (name === '__proto__') return { steps: [], expects };
  const member = holder[name];
  const reaches = typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype');
  return reaches ? { steps: ['prototype'], expects } : undefined;
}

/** Returns true if brackets outside of strings nest deeper than `levels`. */
export function isDeeperThan(bytes: Buffer, levels: number): boolean {
  return countMembers(bytes, levels) === undefined;
}

/** Counts the members of all objects. Undefined if brackets nest deeper than `levels`: it stops at the first one that does. */
function countMembers(bytes: Buffer, levels: number): number | undefined {
  let depth = 0;
  let members = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = endOfString(bytes, index + 1);
    } else if (byte === COLON) {
      members += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > levels) return undefined;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
    }
  }
  return members;
}

/** Returns true if the objects and arrays have more values than `most`, by their commas. Reads no further than that. */
export function hasMoreValuesThan(bytes: Buffer, most: number): boolean {
  let commas = 0;
  for (let index = 0; index < bytes.length && commas < most; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index + 1);
    else if (byte === COMMA) commas += 1;
  }
  return commas >= most;
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

const ONLY_ONCE = 'given only once: an object may not have two members of one name';

/** An object or a list that is open where the scan is. */
interface Open {
  /** The names that an object has had so far. Undefined for a list. */
  readonly names: Set<string> | undefined;
  /** The name or index that was read last. */
  step: Step;
  /** The next string of an object is a name. */
  isNameNext: boolean;
}

/**
 * Finds the first name that an object of valid JSON has twice (CC-20). Escapes are read: `"\u006dodel"` is `"model"`. One pass,
 * but slower than the parser, so it is called only if there is such a name.
 */
function findRepeatedName(bytes: Buffer): ValueFault | undefined {
  const open: Open[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    const inner = open.at(-1);
    if (byte === QUOTE) {
      const end = endOfString(bytes, index + 1);
      if (inner?.isNameNext === true && isRepeated(inner, bytes.toString('utf8', index, end + 1))) {
        return { path: pathOf(open.map(({ step }) => step)), expects: ONLY_ONCE };
      }
      index = end;
    } else if (byte === OPEN_OBJECT) open.push({ names: new Set(), step: '', isNameNext: true });
    else if (byte === OPEN_ARRAY) open.push({ names: undefined, step: 0, isNameNext: false });
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    else if (byte === COMMA && inner !== undefined) goOn(inner);
  }
  return undefined;
}

function goOn(inner: Open): void {
  if (typeof inner.step === 'number') inner.step += 1;
  else inner.isNameNext = true;
}

function isRepeated(holder: Open, quoted: string): boolean {
  const name = JSON.parse(quoted) as string;
  holder.step = name;
  holder.isNameNext = false;
  const isKnown = holder.names?.has(name) === true;
  holder.names?.add(name);
  return isKnown;
}
