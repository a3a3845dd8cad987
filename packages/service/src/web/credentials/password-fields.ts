import { newPassword } from '@purser/contract/control.ts';
import type { Html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { NEW_PASSWORD_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { textField } from '#web/fields/text-field.ts';

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
