import { ALERT_SHARES } from '#connections/alerts.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { checkboxField } from '#web/fields/checkbox-field.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';

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
