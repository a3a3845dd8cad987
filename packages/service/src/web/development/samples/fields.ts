import { html } from '#kernel/text/html.ts';
import { button, buttonLink, buttonLinkAside, row } from '#web/components/parts.ts';
import {
  amountField,
  checkboxField,
  choiceField,
  hiddenField,
  otherField,
  provenForm,
  selectField,
  textField,
} from '#web/fields/fields.ts';
import { type ComponentSample, sample } from '#web/development/samples/sample.ts';
import { HERE } from '#web/development/samples/sample-values.ts';

/** What forms are made of. Each field is shown as it is at first, filled, and wrong: the three ways in which a visitor meets it. */
export const FIELDS: readonly ComponentSample[] = [
  sample(textField, {
    empty: (id) => textField({ name: id, label: 'Name of the app' }),
    'filled, with a hint': (id) =>
      textField({ name: id, label: 'E-mail', type: 'email', value: 'anna@example.test', hint: 'We never share it.' }),
    wrong: (id) => textField({ name: id, label: 'E-mail', value: 'anna', isInvalid: true, isRequired: true }),
    password: (id) => textField({ name: id, label: 'New password', type: 'password', lengthMin: 10, lengthMax: 256 }),
    code: (id) => textField({ name: id, label: 'Code', inputMode: 'numeric', autocomplete: 'one-time-code' }),
  }),
  sample(amountField, {
    empty: (id) => amountField({ name: id, label: 'Amount in EUR', text: '' }),
    filled: (id) => amountField({ name: id, label: 'Amount in EUR', text: '12.50', isRequired: true }),
    wrong: (id) => amountField({ name: id, label: 'Amount in EUR', text: 'a lot' }),
  }),
  sample(choiceField, {
    'four choices': (id) => choiceField({ name: id, legend: 'Amount', choices: choicesOf(['5', '10', '20', '50']) }),
    'an odd number, with a hint': (id) =>
      choiceField({
        name: id,
        legend: 'Monthly cap',
        hint: 'The most that the app can spend in a month.',
        choices: choicesOf(['20', '50', 'No cap']),
      }),
  }),
  sample(selectField, {
    'the second of three': (id) =>
      selectField({
        name: id,
        label: 'Monthly cap',
        hint: 'You pay nothing now.',
        choices: choicesOf(['20', '50', 'No cap']),
      }),
  }),
  sample(otherField, {
    'outside a form: shown': (id) => otherField(amountField({ name: id, label: 'Another amount, in EUR', text: '' })),
  }),
  sample(checkboxField, {
    'not checked': (id) => checkboxField({ name: id, label: 'Yes, pay it back.', value: 'yes', isRequired: true }),
    checked: (id) =>
      checkboxField({
        name: id,
        label: 'I came here from Nimbus myself, and this account there is mine.',
        value: 'yes',
        isChecked: true,
      }),
  }),
  sample(hiddenField, { 'shows nothing': (id) => hiddenField(id, 'value') }),
  sample(provenForm, {
    'a field and its button': (id) =>
      provenForm({
        action: HERE,
        proof: 'sample',
        fields: html`${textField({ name: id, label: 'Name' })}${button('Save')}`,
      }),
  }),
  sample(button, {
    main: () => button('Continue to payment'),
    quiet: () => button('Sign out', { kind: 'quiet' }),
    danger: () => button('Disconnect', { kind: 'danger' }),
  }),
  sample(buttonLink, {
    'the way on': () => buttonLink(HERE, 'Go to your wallet'),
    'one of several': () => buttonLink(HERE, 'Add an app', 'quiet'),
  }),
  sample(buttonLinkAside, { 'in a tab of its own': () => buttonLinkAside(HERE, 'Confirm that it is you') }),
  sample(row, { 'two buttons': () => row(button('Confirm'), button('Refuse', { kind: 'quiet' })) }),
];

/** The second is chosen, so that both looks of a choice can be seen. */
function choicesOf(texts: readonly string[]) {
  return texts.map((text, at) => ({ value: String(at), text, isChosen: at === 1 }));
}
