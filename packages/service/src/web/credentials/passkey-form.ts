import { type Html, html } from '#kernel/text/html.ts';
import type { AccountRequest, AccountServices } from '#web/credentials/account-services.ts';
import { PASSKEY_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { button } from '#web/components/parts.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/assets/passkey-script.ts';

/** What a page needs that asks the browser for a passkey: its script, if passkeys can work here at all. */
export function passkeyNeeds({ accounts }: Pick<AccountServices, 'accounts'>): PageNeeds {
  return accounts.secondFactors.isPasskeyPossible ? { script: PASSKEY_SCRIPT } : {};
}

interface PasskeyForm {
  readonly action: string;
  /** The options of the WebAuthn call. */
  readonly options: unknown;
  readonly text: string;
  readonly more?: Html;
}

/** The form with which a browser uses a passkey. It stays hidden until the script finds that the browser knows passkeys. */
export function passkeyForm(
  { services, form }: AccountRequest,
  { action, options, text, more }: PasskeyForm,
): Html | undefined {
  if (!services.accounts.secondFactors.isPasskeyPossible) return undefined;
  const fields = passkeyFields({
    does: 'get',
    options,
    button: button(text, { kind: 'quiet' }),
    failed: TEXTS.notUsed,
  });
  return html`<div class="card" id="passkey-offer" hidden>${form(action, html`${more}${fields}`)}</div>
${PASSKEY_SCRIPT.element}`;
}

/** The form with which a browser makes a passkey, or why there is none. */
export function newPasskeyForm(
  { services, form }: AccountRequest,
  options: unknown,
  /** Goes with the passkey, such as a code. */
  more?: Html,
): Html {
  if (!services.accounts.secondFactors.isPasskeyPossible) return html`<p class="soft">${TEXTS.noName}</p>`;
  const fields = passkeyFields({ does: 'create', options, button: button(TEXTS.add), failed: TEXTS.notAdded });
  return html`<div id="passkey-offer" hidden>${form('/account/passkeys', html`${more}${fields}`)}</div>
<p id="passkey-cannot" class="soft" hidden>${TEXTS.cannot}</p>
<noscript><p class="soft">${TEXTS.needsScripts}</p></noscript>
${PASSKEY_SCRIPT.element}`;
}
