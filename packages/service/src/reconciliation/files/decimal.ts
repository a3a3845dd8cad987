/**
 * A decimal number such as `-12.50` as a whole number of parts, of which one has `10 ** places`. Exact. Undefined for anything
 * else: digits in groups, a comma for the point, an exponent, more places. `1.234` and `1,234` are not the same number everywhere.
 */
export function partsOf(text: string, places: number): bigint | undefined {
  const [, sign, whole, decimals = ''] = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || decimals.length > places) return undefined;
  const parts = BigInt(whole + decimals.padEnd(places, '0'));
  return sign === '-' ? -parts : parts;
}

/** Micros of a decimal number of whole currency units. */
export function microsIn(text: string): bigint | undefined {
  return partsOf(text, 6);
}
