import { newPassword } from '@purser/contract/control.ts';
import { type Html, html } from '#kernel/html.ts';
import { NEW_PASSWORD_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** Where somebody types a new password: once, since it can be reset by mail. */
export function newPasswordFields(): Html {
  return html`<label for="new-password">${TEXTS.field}</label>
<input id="new-password" name="new-password" type="password" autocomplete="new-password" required
  minlength="10" maxlength="256" aria-describedby="new-password-hint">
<p class="hint" id="new-password-hint">${TEXTS.hint}</p>`;
}

/** Undefined: it will do. */
export function newPasswordFault(password: string): Refusal<'BAD_REQUEST'> | undefined {
  if (newPassword.safeParse(password).success) return undefined;
  return refuse('BAD_REQUEST', TEXTS.unfit);
}
