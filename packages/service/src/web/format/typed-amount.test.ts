import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountField } from '#web/fields/fields.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import { MICROS_MAX, micros } from '#kernel/values/micros.ts';

test('WA-01 an amount is read as typed, exact to the micro', () => {
  const read: readonly (readonly [string, bigint])[] = [
    ['12', 12_000_000n],
    ['12.50', 12_500_000n],
    ['12,50', 12_500_000n],
    ['12,5', 12_500_000n],
    [' 12.50\t', 12_500_000n],
    ['0', 0n],
    ['0.000001', 1n],
    ['0,123', 123_000n],
    ['1234', 1_234_000_000n],
    ['1234.567', 1_234_567_000n],
    ['1.2340', 1_234_000n],
    ['007', 7_000_000n],
    ['9007199254.740991', MICROS_MAX],
  ];
  for (const [text, amount] of read) assert.equal(parseAmount(text), amount, text);
});

test('WA-01 text that is no clear amount is refused', () => {
  const odd = ['', ' ', '.', ',', '1e3', '1E3', '0x10', '1.234.5', '1,234.5', '1.234', '1,234', '12.345', '999,999'];
  const more = [
    '-1',
    '+1',
    '−1',
    '1 000',
    '1\u00a0000',
    "1'000",
    '1_000',
    '12.',
    '.5',
    '1..5',
    '1.,5',
    'NaN',
    'Infinity',
  ];
  const foreign = [
    '１２',
    '１２．５０',
    '١٢',
    '१२',
    '1٫5',
    '12€',
    '€12',
    'EUR 12',
    '12,-',
    '½',
    '1\u200b2',
    '1\0',
    '12n',
  ];
  const large = ['9007199254.740992', '9007199255', '99999999999', '1'.repeat(1_000), '0.0000001', '0'.repeat(11)];
  for (const text of [...odd, ...more, ...foreign, ...large]) assert.equal(parseAmount(text), undefined, text);
});

test('WA-01 an amount put into a field is read back unchanged', () => {
  const amounts = [0n, 1n, 10n, 1_000n, 100_000n, 1_234_000n, 1_000_000n, 12_500_000n, 12_340_000n, MICROS_MAX];
  for (const amount of amounts) assert.equal(parseAmount(amountText(micros(amount))), amount, String(amount));
  assert.equal(amountText(micros(12_500_000n)), '12.50');
  assert.equal(amountText(micros(12_000_000n)), '12');
  assert.equal(amountText(micros(1_234_000n)), '1.2340');
});

test('PG-03 amount fields show the typed value as text', () => {
  const { text } = amountField({ name: 'other', label: 'In <EUR>', text: '"><b>', isRequired: true });
  assert.match(text, /<label for="other">In &#60;EUR&#62;<\/label>/);
  assert.match(text, /value="&#34;&#62;&#60;b&#62;" aria-describedby="other-hint" aria-invalid="true" required>/);
  assert.doesNotMatch(amountField({ name: 'other', label: '', text: '' }).text, /required/);
});

function field(text: string): string {
  return amountField({ name: 'other', label: '', text }).text;
}

test('ON-04 an invalid amount marks its field', () => {
  for (const text of ['a lot', '1e9', '-1', '1.234']) assert.match(field(text), / aria-invalid="true"/, text);
  for (const text of ['', '12', '12,50']) assert.doesNotMatch(field(text), /aria-invalid/, text);
});
