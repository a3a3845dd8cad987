import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '#kernel/values/micros.ts';
import { fromMinorUnits, isPayable, payableIn, toMinorUnits, wholeUnits } from '#payments/processor/amounts.ts';

test('ON-02 processors get minor units in every currency', () => {
  for (const [currency, amount, count] of [
    ['EUR', 5_000_000n, 500],
    ['EUR', 10_000n, 1],
    ['USD', 999_999_990_000n, 99_999_999],
    ['JPY', 500_000_000n, 500],
    ['KRW', 1_000_000n, 1],
    ['KWD', 5_120_000n, 5_120],
    ['ISK', 5_000_000n, 500],
    ['UGX', 5_000_000n, 500],
  ] as const) {
    assert.equal(toMinorUnits(micros(amount), currency), count, currency);
    assert.equal(fromMinorUnits(count, currency), amount, currency);
  }
});

test('ON-02 fractions of a minor unit are never sent', () => {
  for (const [currency, amount] of [
    ['EUR', 5_000_001n],
    ['EUR', 9_999n],
    ['JPY', 1_500_000n],
    ['KWD', 5_120_500n],
  ] as const)
    assert.throws(() => toMinorUnits(micros(amount), currency), RangeError);
});

const check = (currency: string, amount: bigint): boolean => isPayable(micros(amount), payableIn(currency));

test('ON-02 a payable amount is whole coins within bounds', () => {
  for (const [currency, least, unit, most] of [
    ['EUR', 500_000n, 10_000n, 999_999_990_000n],
    ['PLN', 2_000_000n, 10_000n, 999_999_990_000n],
    ['HUF', 175_000_000n, 10_000n, 999_999_990_000n],
    ['JPY', 50_000_000n, 1_000_000n, 99_999_999_000_000n],
    ['KWD', 500_000n, 10_000n, 99_999_990_000n],
    ['ISK', 100_000_000n, 1_000_000n, 999_999_000_000n],
  ] as const) {
    assert.deepEqual(payableIn(currency), { least, unit, most }, currency);
    assert.ok(check(currency, least) && check(currency, least + unit) && check(currency, most), currency);
    assert.ok(
      !check(currency, least - unit) && !check(currency, most + unit) && !check(currency, least + 1n),
      currency,
    );
  }
});

test('ON-02 the remainder below a whole coin stays', () => {
  assert.equal(wholeUnits(micros(4_123_456n), payableIn('EUR')), 4_120_000n);
  assert.equal(wholeUnits(micros(9_999n), payableIn('EUR')), 0n);
  assert.equal(wholeUnits(micros(4_123_456n), payableIn('JPY')), 4_000_000n);
});
