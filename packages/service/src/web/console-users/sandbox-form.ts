import { SANDBOX_OUTCOMES } from '@purser/contract/sandbox.ts';
import { type Html, html } from '#kernel/html.ts';
import { amountField } from '#web/components/amount-field.ts';
import { button, row } from '#web/components/button.ts';
import { checkboxField } from '#web/components/checkbox-field.ts';
import { textField } from '#web/components/text-field.ts';
import type { AppRequest } from '#web/console/app-page.ts';
import type { UsersServices } from '#web/console-users/console-users-services.ts';
import { SANDBOX_TEXTS as TEXTS } from '#web/console-users/texts.ts';
import type { Form } from '#web/frame/read-form.ts';

/** The fields as they are typed. */
export interface Typed {
  readonly user: string;
  readonly balance: string;
  readonly cap: string;
  readonly isSuspended: boolean;
}

export function typedOf(form: Form): Typed {
  return {
    user: form.field('user'),
    balance: form.field('balance'),
    cap: form.field('cap'),
    isSuspended: form.field('suspended') === 'yes',
  };
}

/** Everything that can be set for a test user. Its buttons say what is done, so that the user is typed once. */
export function setUpForm({ currency }: UsersServices, { request, to, may, tooLow }: AppRequest, typed: Typed): Html {
  const fields = html`${textField({ name: 'user', label: TEXTS.user, value: typed.user, hint: TEXTS.userHint, lengthMax: 256, isRequired: true, autocomplete: 'off' })}
<h3>${TEXTS.wallet}</h3>
${amountField({ name: 'balance', label: TEXTS.balance(currency), text: typed.balance })}
${amountField({ name: 'cap', label: TEXTS.cap(currency), text: typed.cap })}
${checkboxField({ name: 'suspended', label: TEXTS.isSuspended, value: 'yes', isChecked: typed.isSuspended })}
${button(TEXTS.set, { name: 'wallet', value: 'fields' })}
<p class="soft">${TEXTS.setWhat}</p>
<h3>${TEXTS.refuse}</h3>
${row(...TEXTS.refusals.map(([value, text]) => button(text, { kind: 'quiet', name: 'wallet', value })))}
<h3>${TEXTS.next}</h3>
<p class="soft">${TEXTS.nextWhat}</p>
${row(
  ...SANDBOX_OUTCOMES.map((outcome) => button(outcome, { kind: 'quiet', name: 'next', value: outcome })),
  button(TEXTS.clear, { kind: 'quiet', name: 'next', value: 'none' }),
)}`;
  return may('sandbox') ? request.form(to('sandbox'), fields) : tooLow();
}
