import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenAmount, leastPayment, offeredAmounts } from '#web/topup/topup-amounts.ts';
import { MICROS_MAX, micros } from '#kernel/values/micros.ts';
import { isPayable, payableIn } from '#payments/processor/amounts.ts';

const EUR = payableIn('EUR');

function leastFor(hold: bigint | undefined, available: bigint, currency = 'EUR'): bigint | undefined {
  return leastPayment(hold === undefined ? undefined : micros(hold), micros(available), payableIn(currency));
}

function chosen(amount: string, other = '', currency = 'EUR') {
  const fields: Readonly<Record<string, string>> = { amount, other };
  const sent = new Map(Object.entries(fields));
  const form = { field: (name: string) => fields[name] ?? '', fields: sent, file: () => undefined, fileNames: [] };
  return chosenAmount(form, payableIn(currency));
}

test('ON-02 every offered amount is payable in every currency', () => {
  assert.deepEqual(offeredAmounts(EUR).choices, [5_000_000n, 10_000_000n, 20_000_000n, 50_000_000n]);
  assert.deepEqual([offeredAmounts(EUR).least, offeredAmounts(EUR).most], [1_000_000n, 1_000_000_000n]);
  assert.equal(offeredAmounts(payableIn('JPY')).choices[0], 500_000_000n);
  for (const currency of Intl.supportedValuesOf('currency')) {
    const payable = payableIn(currency);
    const { choices, least, most } = offeredAmounts(payable);
    assert.equal(choices.length, 4, currency);
    for (const amount of [...choices, least, most]) assert.ok(isPayable(amount, payable), `${currency} ${amount}`);
    for (const amount of choices)
      assert.ok(amount >= payable.least * 10n && amount >= least && amount <= most, currency);
  }
});

test('BI-04 the least sufficient amount covers the gap and the minimum', () => {
  assert.equal(leastFor(700_001n, 0n), 710_000n);
  assert.equal(leastFor(700_000n, 0n), 700_000n);
  assert.equal(leastFor(2_000_000n, 1_400_000n), 600_000n);
  assert.equal(leastFor(2_000_000n, 1_400_001n), 600_000n);
  assert.equal(leastFor(2_000_000n, 1_399_999n), 610_000n);
  assert.equal(leastFor(100n, 99n), 500_000n);
  assert.equal(leastFor(51_500_000n, 0n, 'JPY'), 52_000_000n);
  for (const available of [100n, 101n, MICROS_MAX]) assert.equal(leastFor(100n, available), undefined);
  assert.equal(leastFor(undefined, 0n), undefined);
  assert.equal(leastFor(1_000_000_000n, 0n), 1_000_000_000n);
  assert.equal(leastFor(1_000_000_001n, 0n), undefined);
});

test('ON-02 exactly one amount must be chosen or typed', () => {
  assert.equal(chosen('5000000'), 5_000_000n);
  assert.equal(chosen('500000'), 500_000n); // The least amount that lets a call through may be below the least that may be typed.
  assert.equal(chosen('', '12.50'), 12_500_000n);
  assert.equal(chosen('', ' 1,00 '), 1_000_000n);
  assert.equal(chosen('', '1000'), 1_000_000_000n);
  assert.equal(chosen('', ''), 'none');
  assert.equal(chosen('', '  '), 'none');
  assert.equal(chosen('5000000', '5'), 'two');
  const typed = ['0.99', '1000.01', '12.345', '12.5001', '-5', '1e3', 'five', '5 EUR'];
  for (const other of typed) assert.equal(chosen('', other), 'unusable', other);
  const forged = [
    '0',
    '490000',
    '500001',
    '1000010000',
    '-5000000',
    '5e6',
    '0x10',
    '9'.repeat(30),
    'least',
    ' 5000000',
  ];
  for (const amount of forged) assert.equal(chosen(amount), 'unusable', amount);
  assert.equal(chosen('', '150.50', 'JPY'), 'unusable');
});
