import { type Html, html } from '#kernel/text/html.ts';
import { provenForm } from '#web/fields/fields.ts';
import { badge, button, definitionList, list, paragraphs } from '#web/components/parts.ts';
import { alignedAmount, headlineAmount, moment, signedAmount, table } from '#web/figures/figures.ts';
import { type ComponentSample, sample } from '#web/development/samples/sample.ts';
import type { Formats } from '#web/format/formats.ts';
import {
  AT_MS,
  ENGLISH,
  GERMAN,
  HERE,
  LONG_NAME,
  MOST,
  TINY,
  TWELVE_FIFTY,
} from '#web/development/samples/sample-values.ts';

/** What pages say about money and time, and lists of it. */
export const FIGURES: readonly ComponentSample[] = [
  sample(headlineAmount, {
    'an amount': () => headlineAmount(TWELVE_FIFTY, ENGLISH),
    'the largest amount': () => headlineAmount(MOST, ENGLISH),
    'less than a coin': () => headlineAmount(TINY, ENGLISH),
    'in another language': () => headlineAmount(TWELVE_FIFTY, GERMAN),
  }),
  sample(signedAmount, {
    in: () => signedAmount(TWELVE_FIFTY, 'in', ENGLISH),
    out: () => signedAmount(TWELVE_FIFTY, 'out', ENGLISH),
    'no sign': () => signedAmount(TWELVE_FIFTY, 'none', ENGLISH),
  }),
  sample(alignedAmount, { English: () => columnOf(ENGLISH), German: () => columnOf(GERMAN) }),
  sample(moment, { English: () => moment(AT_MS, ENGLISH), German: () => moment(AT_MS, GERMAN) }),
  sample(definitionList, {
    facts: () =>
      definitionList([
        ['On hold', ENGLISH.amount(TWELVE_FIFTY.amount, TWELVE_FIFTY.currency)],
        ['Your account there', LONG_NAME],
        undefined,
      ]),
  }),
  sample(table, {
    'three columns': () => table({ ...movementsTable(), empty: 'Nothing yet.' }),
    'more than three columns': () => table({ ...keysTable(), empty: 'No keys yet.' }),
    'in groups': () => {
      const { rows, ...others } = movementsTable();
      return table({ ...others, rows: [], groups: [{ heading: '21 Nov 2026', rows }], empty: 'Nothing yet.' });
    },
    empty: () => table({ ...movementsTable(), rows: [], empty: 'Nothing yet.' }),
  }),
  sample(list, {
    sentences: () => list(['Spend from this wallet.', 'See what is in it.']),
    'with buttons': () =>
      list([
        html`<div>Signed in ${moment(AT_MS, ENGLISH)}</div>
${provenForm({ action: HERE, proof: 'sample', fields: button('Sign out', { kind: 'quiet' }) })}`,
      ]),
  }),
  sample(paragraphs, { two: () => paragraphs(['The first sentence.', 'The second one.']) }),
  sample(badge, { good: () => badge('Active', 'good'), warn: () => badge('Paused', 'warn') }),
];

/** Amounts with two, six and no decimals of their own. */
function columnOf(formats: Formats): Html {
  const cellOf = (money: typeof MOST, direction: 'in' | 'out') => [
    alignedAmount(money, { direction, decimals: 6 }, formats),
  ];
  const rows = [cellOf(TWELVE_FIFTY, 'in'), cellOf(TINY, 'out'), cellOf(MOST, 'in')];
  return table({ caption: 'Amounts', columns: [{ name: 'Amount', isNumeric: true }], rows, empty: '' });
}

/** Makes a table of three columns, which is the widest whose rows stay rows on a phone. */
function movementsTable() {
  return {
    caption: 'Movements',
    columns: [{ name: 'What' }, { name: 'Amount', isNumeric: true }, { name: 'Balance after', isNumeric: true }],
    rows: [
      ['Call: gpt-5', signedAmount(TWELVE_FIFTY, 'out', ENGLISH), ENGLISH.amount(MOST.amount, MOST.currency)],
      ['Top-up', signedAmount(TWELVE_FIFTY, 'in', ENGLISH), ENGLISH.amount(TWELVE_FIFTY.amount, 'EUR')],
    ],
  };
}

/** Makes a table of five columns. On a phone each cell gets a line of its own. */
function keysTable() {
  return {
    caption: 'API keys',
    columns: [
      { name: 'Name' },
      { name: 'Mode' },
      { name: 'Created' },
      { name: 'Last used' },
      { name: 'Calls', isNumeric: true },
    ],
    rows: [
      ['Production', 'live', moment(AT_MS, ENGLISH), moment(AT_MS, ENGLISH), '1,204,331'],
      ['Continuous integration', 'sandbox', moment(AT_MS, ENGLISH), 'Never', '0'],
    ],
  };
}
