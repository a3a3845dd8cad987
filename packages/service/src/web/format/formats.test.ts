import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moment } from '#web/figures/figures.ts';
import { formatsOf } from '#web/format/formats.ts';
import { micros } from '#kernel/values/micros.ts';
import { payableIn } from '#payments/processor/amounts.ts';

/** The text as a reader would type it: every kind of space becomes a plain one, and direction marks go. */
function shown(language: string | undefined, amount: bigint, currency = 'EUR'): string {
  const text = formatsOf(language).amount(micros(amount), currency);
  return text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f\u061c]/g, '');
}

const MOST = 2n ** 53n - 1n;

test('ON-04 an amount is shown to the micro', () => {
  assert.equal(shown('en-US', 0n), '€0.00');
  assert.equal(shown('en-US', 1n), '€0.000001');
  assert.equal(shown('en-US', 1_000_000n), '€1.00');
  assert.equal(shown('en-US', 1_500_000n), '€1.50');
  assert.equal(shown('en-US', 1_234_567n), '€1.234567');
  assert.equal(shown('en-US', MOST), '€9,007,199,254.740991');
  assert.equal(shown('en-US', MOST - 1n), '€9,007,199,254.74099');
  assert.equal(shown('en-US', 1_000_000n, 'JPY'), '¥1');
  assert.equal(shown('en-US', 1n, 'JPY'), '¥0.000001');
  assert.equal(shown('en-US', 1_000_000n, 'KWD'), 'KWD 1.000');
  assert.equal(shown('en-US', 1_000_100n, 'KWD'), 'KWD 1.0001');
  assert.equal(shown('en-US', 12_345_678n, 'XYZ'), 'XYZ 12.345678');
});

/** The decimals of all currencies in use that have not two, by ISO 4217. Those of the runtime differ in 25 of them. */
const NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ');
const THREE = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');

test('ON-04 an amount of every currency has the decimals of its coins', () => {
  const currencies = new Set([...Intl.supportedValuesOf('currency'), 'HUF', 'IDR', 'COP', 'PKR']);
  assert.ok(currencies.size > 150);
  for (const currency of currencies) {
    const decimals = NONE.includes(currency) ? 0 : THREE.includes(currency) ? 3 : 2;
    for (const [amount, least] of [
      [1_500_000n, 1],
      [12_000_000n, 0],
      [1n, 6],
    ] as const) {
      const [, shownDecimals = ''] = /\d+(?:\.(\d+))?$/.exec(shown('en', amount, currency)) ?? [];
      assert.equal(shownDecimals.length, Math.max(decimals, least), shown('en', amount, currency));
    }
    const { coins, decimalsOf } = formatsOf('en');
    assert.equal(decimalsOf([micros(1_000_000n)], currency), decimals, currency);
    assert.match(coins(micros(1_999_999n), currency), decimals === 0 ? /\D1$/ : new RegExp(`\\D1\\.9{${decimals}}$`));
    assert.equal(
      payableIn(currency).unit % 10n ** BigInt(6 - decimals),
      0n,
      `${currency}: what is paid is whole coins`,
    );
  }
  assert.equal(shown('hu', 1_500_000n, 'HUF'), '1,50 Ft');
});

test('ON-04 an amount is written in the reader’s language without changing', () => {
  assert.equal(shown('de', 1_234_567_891n), '1.234,567891 €');
  assert.equal(shown('pt-BR', 1_234_567_891n), '€ 1.234,567891');
  assert.equal(shown('hi', 1_234_567_891_000n), '€12,34,567.891');
  assert.equal(shown('ar-EG', 1_500_000n), '١٫٥٠ €');
  for (const language of ['ar', 'de', 'en-US', 'hi', 'pt-BR', 'fa', 'bn', 'my', 'de-CH', 'sv', 'ne']) {
    for (const amount of [0n, 1n, 999_999n, 1_000_000n, 123_456_789n, MOST]) {
      for (const currency of ['EUR', 'JPY', 'KWD']) {
        const text = shown(language, amount, currency);
        assert.equal(microsIn(text, language), amount, `${language} ${currency} ${text}`);
      }
    }
  }
});

test('ON-04 unknown or missing languages fall back to English', () => {
  const unknown = [undefined, '', 'zz', 'zz-ZZ', '*', 'x', ';;;,,,', 'en_US', '💶', '../../etc', 'a'.repeat(10_000)];
  for (const language of unknown) assert.equal(shown(language, 1_234_567_891n), '€1,234.567891', String(language));
  assert.equal(shown('zz,*;q=0.5,de', 1_500_000n), '1,50 €');
  assert.equal(shown(`${'zz,'.repeat(1000)}de`, 1_500_000n), '€1.50', 'only the first few languages are looked at');
});

test('PG-05 moments are shown to the minute in UTC', () => {
  const atMs = Date.UTC(2026, 10, 21, 23, 5, 59, 999);
  assert.equal(
    moment(atMs, formatsOf('en-GB')).text,
    '<time datetime="2026-11-21T23:05:59.999Z">21 Nov 2026, 23:05 UTC</time>',
  );
  assert.equal(
    moment(atMs, formatsOf('de')).text,
    '<time datetime="2026-11-21T23:05:59.999Z">21.11.2026, 23:05 UTC</time>',
  );
});

/** Parses a text back into an amount, with the digits and separators of any language. */
function microsIn(text: string, language: string): bigint {
  const digits = Array.from(
    new Intl.NumberFormat(language, { useGrouping: false }).format(9_876_543_210n),
  ).toReversed();
  const decimal =
    new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '';
  const [whole = '', decimals = ''] = text.split(decimal).map((part) =>
    Array.from(part, (letter) => digits.indexOf(letter))
      .filter((digit) => digit >= 0)
      .join(''),
  );
  return BigInt(whole + decimals.padEnd(6, '0'));
}

function coins(language: string, amount: bigint, currency = 'EUR'): string {
  return formatsOf(language)
    .coins(micros(amount), currency)
    .replaceAll(/[\u00a0\u202f]/g, ' ');
}

test('ON-04 a headline is rounded down to whole coins', () => {
  assert.equal(coins('en', 4_999_724n), '€4.99');
  assert.equal(coins('en', 5_000_000n), '€5.00');
  assert.equal(coins('en', 0n), '€0.00');
  assert.equal(coins('en', 9_999n), '< €0.01');
  assert.equal(coins('de', 1_234_567_891n), '1.234,56 €');
  assert.equal(coins('en', 1_999_999n, 'JPY'), '¥1');
  assert.equal(coins('en', 1_000_999n, 'KWD'), 'KWD 1.000');
});

test('ON-04 a column has its longest amount’s decimals', () => {
  const { decimalsOf } = formatsOf('en');
  assert.equal(decimalsOf([micros(1_500_000n), micros(276n)], 'EUR'), 6);
  assert.equal(decimalsOf([micros(1_500_000n), micros(2_125_000n)], 'EUR'), 3);
  assert.equal(decimalsOf([micros(0n)], 'EUR'), 2);
  assert.equal(decimalsOf([micros(10_000_000n)], 'JPY'), 0);
});
