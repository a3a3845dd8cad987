import { checkFields } from '@purser/contract/check-fields.ts';
import { personActSchema } from '@purser/contract/operator-people.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { textField } from '#web/fields/text-field.ts';
import type { Form } from '#web/forms/read-form.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

const REASON_LENGTH_MAX = 500;

/** The person that the address names. */
export function emailAsked({ request: { query } }: OpsRequest): string {
  return query.get('email')?.trim() ?? '';
}

/** The reason of an act on a person, by the rules of the route. */
export function reasonIn(form: Form): string | Refusal<'BAD_REQUEST'> {
  const checked = checkFields(personActSchema, { reason: form.field('reason') }, { reason: TEXTS.reason });
  if ('problems' in checked) {
    return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  }
  return checked.value.reason;
}

/** The form of an act on a person. */
export function personForm(
  asked: OpsRequest,
  page: 'person-export' | 'person-delete',
  text: string,
  { kind, more }: { readonly kind?: 'danger'; readonly more?: Html | undefined } = {},
): Html {
  const fields = html`${more}${textField({ name: 'reason', label: TEXTS.reason, lengthMax: REASON_LENGTH_MAX, isRequired: true, autocomplete: 'off' })}
${button(text, kind === undefined ? {} : { kind })}`;
  const query = opsPath('', { email: emailAsked(asked) }).split('?')[1] ?? '';
  return asked.form(page, fields, { query });
}
