/**
 * A number as its text. A price is money, and a JavaScript number is not exact: 0.1 * 3 is not 0.3. So a list's numbers are
 * never turned into floats.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An exact decimal: `digits` divided by 10 to the power of `scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const DECIMAL = /^(-?)(\d{1,24})(?:\.(\d{1,24}))?(?:[eE]([+-]?\d{1,2}))?$/;
const MICROS_SCALE = 6;

/** Parses JSON, and leaves each number as the text that the file has. Throws `SyntaxError`. */
export function parseLossless(text: string): unknown {
  // The type of `JSON.parse` does not know the third argument yet, which has the source text of each number.
  const parse = JSON.parse as (
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ) => unknown;
  return parse(text, (_name, value, { source }) =>
    typeof value === 'number' ? new NumberText(source ?? String(value)) : value,
  );
}

/** Reads a decimal number as JSON writes it. Undefined for anything else, and for absurdly long numbers. */
export function readDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

/** Converts units to micros. Undefined if the result is not a whole number: rounding a price is for a person to decide. */
export function wholeMicros({ digits, scale }: Decimal): bigint | undefined {
  const raised = digits * 10n ** BigInt(MICROS_SCALE);
  const divisor = 10n ** BigInt(scale);
  return raised % divisor === 0n ? raised / divisor : undefined;
}

/** Multiplies an amount by an exchange rate, rounded up to a whole micro. */
export function converted(amountMicros: bigint, rate: Decimal): bigint {
  const divisor = 10n ** BigInt(rate.scale);
  return (amountMicros * rate.digits + divisor - 1n) / divisor;
}

/** Shows micros as units with at least two decimals: `0.40`, `0.075`. */
export function inUnits(amountMicros: bigint): string {
  const sign = amountMicros < 0n ? '-' : '';
  const text = (amountMicros < 0n ? -amountMicros : amountMicros).toString().padStart(MICROS_SCALE + 1, '0');
  const fraction = text.slice(-MICROS_SCALE).replace(/0{1,4}$/, '');
  return `${sign}${text.slice(0, -MICROS_SCALE)}.${fraction}`;
}
