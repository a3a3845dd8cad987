import { misshapen, parseBody } from '#gateway/request/parse-body.ts';
import type { JsonObject } from '#kernel/json.ts';
import { Refusal } from '#kernel/refusal.ts';

/**
 * Reads a body as what it says and nothing else: as on the data plane (depth, UTF-8, JSON, an object, nothing unsafe), and
 * besides no name twice, no number that would be rounded, and no text that the database cannot hold. Which of two
 * amounts was meant, or which whole number, nobody has to guess.
 */
export function parseExactBody(bytes: Buffer): JsonObject | Refusal<'BAD_REQUEST'> {
  const body = parseBody(bytes);
  if (body instanceof Refusal) return body;
  const fault = findInexact(bytes.toString('utf8'));
  return fault === undefined ? body : misshapen(fault);
}

interface Inexact {
  /** As `wallets.0.amountMicros`. */
  readonly path: string;
  readonly expects: string;
}

/** An object or array that the scan is in, and where in it. */
interface Place {
  /** Of an object: the names that it has had. */
  readonly names: Set<string> | undefined;
  at: string | number;
  /** The next string is a name. */
  isAtName: boolean;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

/** The first fault in text that is known to be JSON, and nested no deeper than a body may be. */
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

function step(place: Place | undefined): void {
  if (place === undefined) return;
  if (typeof place.at === 'number') place.at += 1;
  else place.isAtName = true;
}

function faultOfText(token: string, place: Place | undefined): string | undefined {
  const text = JSON.parse(token) as string;
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

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number that is whole once it is read must have been whole as it was written. Others are the schema's to refuse. */
function faultOfNumber(token: string): string | undefined {
  const value = Number(token);
  if (!Number.isInteger(value)) return undefined;
  return Number.isSafeInteger(value) && !Object.is(value, -0) && isExactly(token, value)
    ? undefined
    : 'a whole number from -(2^53 - 1) to 2^53 - 1, or it would be rounded';
}

/** By its digits alone: without the zeros that end them, shifted by the exponent. */
function isExactly(token: string, value: number): boolean {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  if (all === '') return value === 0;
  const digits = withoutZerosAtEnd(all);
  const zeros = Number(exponent) - fraction.length + all.length - digits.length;
  return zeros >= 0 && zeros <= 16 && String(value) === `${sign}${digits}${'0'.repeat(zeros)}`;
}

/** By hand: an expression would look at each of a million zeros as often as there are zeros behind it. */
function withoutZerosAtEnd(digits: string): string {
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  return digits.slice(0, length);
}
