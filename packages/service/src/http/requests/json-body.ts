import { misshapen, parseBody } from '#gateway/body/parse-body.ts';
import { pathOf, type Step } from '#gateway/body/value-path.ts';
import { unstorableText } from '#http/requests/storable-text.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/**
 * Parses a body that moves money, without guessing. It refuses everything that the data plane refuses (depth, UTF-8, JSON,
 * an object, unsafe names, a name that occurs twice). It also refuses a number that would be rounded, and text that the
 * database cannot store. `JSON.parse` accepts both in silence: it turns 9007199254740993 micros into 9007199254740992.
 */
export function parseExactBody(bytes: Buffer): JsonObject | Refusal<'BAD_REQUEST'> {
  const body = parseBody(bytes);
  if (body instanceof Refusal) return body;
  // A second pass over the text, because the parsed value no longer shows how its numbers were written.
  const rounded = findRounded(bytes.toString('utf8'));
  return rounded === undefined ? (unstorableText(body) ?? body) : misshapen({ path: rounded, expects: EXACT });
}

const EXACT = 'a whole number from -(2^53 - 1) to 2^53 - 1, or it would be rounded';

/** An object or array that the scan is inside of. */
interface Place {
  /** The current name or index. */
  at: Step;
  /** Whether the next string is a name. */
  isAtName: boolean;
}

/**
 * Strings, brackets, commas and numbers. The text is known to be valid JSON, so everything between them can be skipped. No
 * alternative can match the same text in two ways, so the scan takes linear time.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

/** The path of the first number that would be rounded, in text that is known to be JSON, and not nested too deeply. */
function findRounded(text: string): string | undefined {
  const places: Place[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const place = places.at(-1);
    if (token === '{') places.push({ at: '', isAtName: true });
    else if (token === '[') places.push({ at: 0, isAtName: false });
    else if (token === '}' || token === ']') places.pop();
    else if (token === ',') step(place);
    else if (!token.startsWith('"')) {
      if (isRounded(token)) return pathOf(places.map(({ at }) => at));
    } else if (place?.isAtName === true) {
      // Most names have no escapes, and a parse for each would take longest.
      place.at = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
      place.isAtName = false;
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

/** A number with too few digits to be rounded, and not -0. Nearly every number is one of these. */
const PLAIN = /^(?:0|-?[1-9]\d{0,14})$/;

/**
 * A number that is whole after parsing must also have been whole as it was written: `1.0000000000000000001` parses as 1.
 * Fractions that stay fractions are left to the schema.
 */
function isRounded(token: string): boolean {
  if (PLAIN.test(token)) return false;
  const value = Number(token);
  if (!Number.isInteger(value)) return false;
  return !Number.isSafeInteger(value) || Object.is(value, -0) || !isExactly(token, value);
}

/** A number's sign, whole digits, fraction and exponent. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

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
