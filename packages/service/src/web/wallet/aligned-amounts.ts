import type { Html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { alignedAmount } from '#web/figures/money.ts';
import type { Formats } from '#web/format/formats.ts';

/** Writes the amounts of a list of facts, decimal under decimal. `amounts`: all of them. */
export function alignerOf(
  amounts: readonly (Micros | undefined)[],
  currency: string,
  formats: Formats,
): (amount: Micros) => Html {
  const known = amounts.filter((amount) => amount !== undefined);
  const decimals = formats.decimalsOf(known, currency);
  return (amount) => alignedAmount({ amount, currency }, { decimals }, formats);
}
