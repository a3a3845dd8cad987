import { newPassword } from '@purser/contract/control.ts';
import type { Html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { CODE_FIELD_TEXTS, NEW_PASSWORD_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { textField } from '#web/fields/fields.ts';

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
