import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { signedAmount } from '#web/figures/figures.ts';
import type { Formats } from '#web/format/formats.ts';

/** An amount that may be negative, with its sign. `none`: a missing one. */
export function signedMoney(amount: bigint | undefined, currency: string, formats: Formats): Html {
  if (amount === undefined) return html`–`;
  const whole = micros(amount < 0n ? -amount : amount);
  return signedAmount({ amount: whole, currency }, amount < 0n ? 'out' : 'none', formats);
}

/** Shows a signed amount for a headline, in whole coins. */
export function signedCoins(amount: bigint, currency: string, formats: Formats): string {
  const coins = formats.coins(micros(amount < 0n ? -amount : amount), currency);
  return amount < 0n ? `−${coins}` : coins;
}
