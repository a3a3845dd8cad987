import { type Html, html } from '#kernel/text/html.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import {
  appMark,
  badge,
  breadcrumbs,
  button,
  card,
  fold,
  initial,
  linkLine,
  pager,
  section,
  steps,
} from '#web/components/parts.ts';
import { provenForm, textField } from '#web/fields/fields.ts';
import { type ComponentSample, sample } from '#web/development/samples/sample.ts';
import { HERE, LONG_NAME } from '#web/development/samples/sample-values.ts';

/** What tells people that something happened. */
export const NOTICES: readonly ComponentSample[] = [
  sample(errorSummary, {
    'one problem': () => errorSummary('Enter the amount in digits.'),
    'several problems': (id) =>
      html`${errorSummary([
        { field: `${id}-name`, message: 'Enter a name.' },
        { field: `${id}-email`, message: 'This is not an e-mail address.' },
      ])}
${textField({ name: `${id}-name`, label: 'Name' })}${textField({ name: `${id}-email`, label: 'E-mail' })}`,
  }),
  sample(successNotice, { 'what was done': () => successNotice('The monthly cap was set.') }),
  sample(warningNotice, { 'good to know': () => warningNotice('This wallet is blocked.') }),
];

/** What holds a page together. */
export const PARTS: readonly ComponentSample[] = [
  sample(linkLine, { 'a link on its own line': () => linkLine(HERE, 'All apps') }),
  sample(pager, {
    'the first page': () => pager({ newer: undefined, older: target('Older movements') }),
    'in the middle': () => pager({ newer: target('Newest movements'), older: target('Older movements') }),
  }),
  sample(breadcrumbs, {
    'two levels up': (id) => breadcrumbs(`Path ${id}`, [target('Apps'), target('Nimbus')], 'Keys'),
  }),
  sample(steps, { 'the second of three': () => steps(['Sign in', 'Connect', 'Pay'], 1) }),
  sample(appMark, {
    'without a logo': () => appMark({ name: 'Nimbus', logo: undefined }),
    'a long name': () => appMark({ name: LONG_NAME, logo: undefined }),
  }),
  sample(initial, {
    'the mark of the operator': () => initial('Purser', 'mark'),
    'of several code points': () => initial('e\u0301clair', 'letter'),
  }),
  sample(card, { 'with a form': (id) => card(html`<p>Name it.</p>`, sampleForm(id)) }),
  sample(fold, {
    closed: () => fold('Another amount', html`<p>Text.</p>`),
    open: () => fold('Another amount', html`<p>Text.</p>`, true),
  }),
  sample(section, {
    'with a heading': (id) =>
      section({ id, heading: html`Balance ${badge('Active', 'good')}`, body: [html`<p>Text.</p>`] }),
  }),
];

/** A form as a card or section holds it. Its proof is none, so that sending it does nothing. */
function sampleForm(id: string): Html {
  return provenForm({
    action: HERE,
    proof: 'sample',
    fields: html`${textField({ name: id, label: 'Name' })}${button('Save')}`,
  });
}

/** A link that leads back to the page of components. */
function target(text: string) {
  return { href: HERE, text };
}
