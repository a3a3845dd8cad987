import type { Html } from '#kernel/text/html.ts';
import { CODE_FIELD_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { textField } from '#web/fields/text-field.ts';

const LENGTH_MAX = 32;

/** A code of an authenticator app, or a recovery code. */
export function factorCodeField(hint?: string): Html {
  return textField({
    name: 'code',
    label: TEXTS.code,
    autocomplete: 'one-time-code',
    lengthMax: LENGTH_MAX,
    isRequired: true,
    ...(hint === undefined ? {} : { hint }),
  });
}
