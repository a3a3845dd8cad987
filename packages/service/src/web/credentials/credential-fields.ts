import { newPassword } from '@purser/contract/control.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { CODE_FIELD_TEXTS, NEW_PASSWORD_TEXTS as TEXTS, PASSKEY_TEXTS } from '#web/credentials/texts.ts';
import { textField } from '#web/fields/fields.ts';
import type { AccountRequest, AccountServices } from '#web/credentials/account-services.ts';
import { button } from '#web/components/parts.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/assets/passkey-script.ts';

/** The limit is a path of 256 octets by RFC 5321, less its angle brackets. */
export const EMAIL_LENGTH_MAX = 254;

/** The e-mail address of an account. `username` makes password managers offer the password that belongs to it. */
export function accountEmailField(label: string, value?: string): Html {
  return textField({
    name: 'email',
    label,
    type: 'email',
    autocomplete: 'username',
    lengthMax: EMAIL_LENGTH_MAX,
    isRequired: true,
    ...(value === undefined ? {} : { value }),
  });
}

/** The bounds of the wire (`newPassword` in the contract), told to the browser, so that it complains before the server has to. */
const LENGTH_MIN = 10;
const LENGTH_MAX = 256;

/** The password that an account has. */
export function presentPasswordField(label: string): Html {
  return textField({
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'current-password',
    lengthMax: LENGTH_MAX,
    isRequired: true,
  });
}

/** A new password, typed once: somebody who mistypes it can reset it by e-mail. */
export function newPasswordField(): Html {
  return textField({
    name: 'new-password',
    label: TEXTS.field,
    type: 'password',
    hint: TEXTS.hint,
    autocomplete: 'new-password',
    lengthMin: LENGTH_MIN,
    lengthMax: LENGTH_MAX,
    isRequired: true,
  });
}

/** Why a new password cannot be used. Undefined if it can. */
export function newPasswordFault(password: string): Refusal<'BAD_REQUEST'> | undefined {
  if (newPassword.safeParse(password).success) return undefined;
  return refuse('BAD_REQUEST', TEXTS.unfit);
}

const CODE_LENGTH_MAX = 32;

/** A code of an authenticator app, or a recovery code. */
export function factorCodeField(hint?: string): Html {
  return textField({
    name: 'code',
    label: CODE_FIELD_TEXTS.code,
    autocomplete: 'one-time-code',
    lengthMax: CODE_LENGTH_MAX,
    isRequired: true,
    ...(hint === undefined ? {} : { hint }),
  });
}

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
    failed: PASSKEY_TEXTS.notUsed,
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
  if (!services.accounts.secondFactors.isPasskeyPossible) return html`<p class="soft">${PASSKEY_TEXTS.noName}</p>`;
  const fields = passkeyFields({
    does: 'create',
    options,
    button: button(PASSKEY_TEXTS.add),
    failed: PASSKEY_TEXTS.notAdded,
  });
  return html`<div id="passkey-offer" hidden>${form('/account/passkeys', html`${more}${fields}`)}</div>
<p id="passkey-cannot" class="soft" hidden>${PASSKEY_TEXTS.cannot}</p>
<noscript><p class="soft">${PASSKEY_TEXTS.needsScripts}</p></noscript>
${PASSKEY_SCRIPT.element}`;
}
