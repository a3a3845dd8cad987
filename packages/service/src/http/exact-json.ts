/**
 * Parses JSON text for planes that carry amounts. A number that its nearest double does not say exactly, such as
 * `1.00000000000000001`, comes out as NaN, which no schema takes: an amount is what was sent, or refused by its field.
 * Throws for text that is no JSON, and for a name by which a careless program takes a value for its own prototype.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (name: string, value: unknown, context?: { readonly source?: string }) => {
    if (name === '__proto__') throw new SyntaxError('A property may not be called `__proto__`.');
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && !isExact(value, source) ? Number.NaN : value;
  });
}

const PLAIN = /^-?\d+$/;
/** Longer ones are not looked at: nobody means them, and a megabyte of zeros would take its time. */
const NUMBER_LENGTH_MAX = 64;

/**
 * Looks at whole numbers alone, for amounts are whole. A plain run of digits up to 2^53 - 1 is itself; above, it is no
 * safe integer, and the schemas say so.
 */
function isExact(value: number, source: string): boolean {
  if (!Number.isSafeInteger(value) || PLAIN.test(source)) return true;
  return source.length <= NUMBER_LENGTH_MAX && sameDecimal(source, String(value));
}

function sameDecimal(one: string, other: string): boolean {
  const [left, right] = [decimalOf(one), decimalOf(other)];
  return left.digits === right.digits && (left.digits === '' || left.exponent === right.exponent);
}

/** Digits without zeros around them, and the power of ten of the last one. The sign of a double is never lost. */
function decimalOf(text: string): { readonly digits: string; readonly exponent: number } {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const significant = (whole + fraction).replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  return { digits, exponent: Number(power) - fraction.length + significant.length - digits.length };
}
