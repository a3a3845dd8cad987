import { type Html, html } from '#kernel/text/html.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { WalletState } from '#web/wallet-owner/owned-wallet.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { alignedAmount } from '#web/figures/figures.ts';
import type { Formats } from '#web/format/formats.ts';
import { ALERT_SHARES } from '#connections/alerts.ts';
import { badge, button } from '#web/components/parts.ts';
import { checkboxField } from '#web/fields/fields.ts';

/** A wallet's state as a badge. Every state that stops the app from spending stands out. */
export function stateBadge(state: WalletState): Html {
  return badge(WALLET_TEXTS.state(state), state === 'active' ? 'good' : 'warn');
}

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

/** The name of the box for a share, in percent. */
export function alertField(share: number): string {
  return `share-${share}`;
}

/** The boxes for the shares of the cap that the owner wants mails about. */
export function alertFields(chosen: readonly number[]): Html {
  const boxes = ALERT_SHARES.map((share) =>
    checkboxField({
      name: alertField(share),
      label: WALLET_TEXTS.alertAt(share),
      value: 'yes',
      isChecked: chosen.includes(share),
    }),
  );
  return html`${boxes}
${button(WALLET_TEXTS.setAlerts, { kind: 'quiet' })}`;
}
