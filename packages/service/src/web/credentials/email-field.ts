import type { Html } from '#kernel/text/html.ts';
import { textField } from '#web/fields/text-field.ts';

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
