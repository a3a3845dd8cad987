import { misshapen, parseBody } from '#gateway/request/parse-body.ts';
import type { JsonObject } from '#kernel/json.ts';
import { Refusal } from '#kernel/refusal.ts';

/**
 * Parses a body that moves money, without guessing. It refuses everything that the data plane refuses (depth, UTF-8, JSON,
 * an object, unsafe names). It also refuses a name that occurs twice, a number that would be rounded, and text that the
 * database cannot store. `JSON.parse` accepts all three in silence: it keeps the last of two amounts, and turns
 * 9007199254740993 micros into 9007199254740992.
 */
export function parseExactBody(bytes: Buffer): JsonObject | Refusal<'BAD_REQUEST'> {
  const body = parseBody(bytes);
  if (body instanceof Refusal) return body;
  // A second pass over the text, because the parsed value no longer shows what was written.
  const fault = findInexact(bytes.toString('utf8'));
  return fault === undefined ? body : misshapen(fault);
}

interface Inexact {
  /** For example `wallets.0.amountMicros`. */
  readonly path: string;
  readonly expects: string;
}

/** An object or array that the scan is inside of, and the position in it. */
interface Place {
  /** The names seen so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The current name or index. */
  at: string | number;
  /** Whether the next string is a name. */
  isAtName: boolean;
}

/**
 * Strings, brackets, commas and numbers. The text is known to be valid JSON, so everything between them can be skipped. No
 * alternative can match the same text in two ways, so the scan takes linear time.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

/** The first fault in text that is known to be JSON, and not nested too deeply. */
function findInexact(text: string): Inexact | undefined {
  const places: Place[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const place = places.at(-1);
    if (token === '{') places.push({ names: new Set(), at: '', isAtName: true });
    else if (token === '[') places.push({ names: undefined, at: 0, isAtName: false });
    else if (token === '}' || token === ']') places.pop();
    else if (token === ',') step(place);
    else {
      const expects = token.startsWith('"') ? faultOfText(token, place) : faultOfNumber(token);
      if (expects !== undefined) return { path: places.map(({ at }) => at).join('.'), expects };
    }
  }
  return undefined;
}

/** A comma: the next index of an array, or the next name of an object. */
function step(place: Place | undefined): void {
  if (place === undefined) return;
  if (typeof place.at === 'number') place.at += 1;
  else place.isAtName = true;
}

/** What is wrong with a string: text that cannot be stored, or a name that was there before. */
function faultOfText(token: string, place: Place | undefined): string | undefined {
  // Unescaped: `"a"` and `"\u0061"` are the same name. Most texts have no escapes, and a parse for each would take longest.
  const text = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  const isName = place?.isAtName === true;
  if (isName) {
    place.at = text;
    place.isAtName = false;
  }
  if (text.includes('\0') || !text.isWellFormed()) return 'text without NUL and without halves of surrogate pairs';
  if (!isName) return undefined;
  if (place.names?.has(text) === true) return 'there once';
  place.names?.add(text);
  return undefined;
}

/** A number's sign, whole digits, fraction and exponent. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Too few digits to be rounded, and not -0. Nearly every number is one of these. */
const PLAIN = /^(?:0|-?[1-9]\d{0,14})$/;

/**
 * A number that is whole after parsing must also have been whole as it was written: `1.0000000000000000001` parses as 1.
 * Fractions that stay fractions are left to the schema.
 */
function faultOfNumber(token: string): string | undefined {
  if (PLAIN.test(token)) return undefined;
  const value = Number(token);
  if (!Number.isInteger(value)) return undefined;
  return Number.isSafeInteger(value) && !Object.is(value, -0) && isExactly(token, value)
    ? undefined
    : 'a whole number from -(2^53 - 1) to 2^53 - 1, or it would be rounded';
}

/** Compares the written digits with the value's, without trailing zeros and shifted by the exponent, as text. */
function isExactly(token: string, value: number): boolean {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  if (all === '') return value === 0;
  const digits = withoutZerosAtEnd(all);
  const zeros = Number(exponent) - fraction.length + all.length - digits.length;
  return zeros >= 0 && zeros <= 16 && String(value) === `${sign}${digits}${'0'.repeat(zeros)}`;
}

/** A loop, because `/0+$/` takes quadratic time: a body of a million zeros would block the process. */
function withoutZerosAtEnd(digits: string): string {
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  return digits.slice(0, length);
}
