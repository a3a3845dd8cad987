import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/assets/passkey-script.ts';
import { PASSKEY_TEXTS } from '#web/sign-in/texts.ts';
import type { WalletOwnerRequest } from '#web/wallet-owner/open-link.ts';
import { nextField } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** The addresses that take the forms of passkeys. */
export const PASSKEY_PATHS = { use: '/wallet/passkeys/use', remove: '/wallet/passkeys/remove' } as const;

/** What a page needs that asks the browser for a passkey: its script, if passkeys can work here at all. */
export function passkeyNeeds({ passkeys }: WalletOwnerServices): PageNeeds {
  return passkeys.isPossible ? { script: PASSKEY_SCRIPT } : {};
}

/** The offer on the sign-in page. It stays hidden until the script finds that the browser knows passkeys. */
export function passkeyOffer(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  next: string,
): Html | undefined {
  if (!passkeys.isPossible) return undefined;
  const fields = passkeyFields({
    does: 'get',
    options: passkeys.optionsToSignIn(),
    button: button(PASSKEY_TEXTS.use, { kind: 'quiet' }),
    failed: PASSKEY_TEXTS.notUsed,
  });
  return html`<section id="passkey-offer" hidden>
<h2>${PASSKEY_TEXTS.offerTitle}</h2>
<p>${PASSKEY_TEXTS.offer}</p>
${request.form(PASSKEY_PATHS.use, html`${nextField(next)}${fields}`)}
</section>
${PASSKEY_SCRIPT.element}`;
}
