import assert from 'node:assert/strict';
import { test } from 'node:test';
import { converted, inUnits, NumberText, parseLossless, readDecimal, wholeMicros } from '#price-lists/decimal.ts';

function microsOf(text: string): bigint | undefined {
  const decimal = readDecimal(text);
  return decimal === undefined ? undefined : wholeMicros(decimal);
}

test('MO-10 price list numbers become micros exactly', () => {
  const list = parseLossless('{"a":0.075,"b":[1.1,15,2e-1],"c":9007199254740993,"d":"0.5"}') as Record<string, unknown>;
  assert.deepEqual(list['a'], new NumberText('0.075'));
  assert.deepEqual(list['b'], [new NumberText('1.1'), new NumberText('15'), new NumberText('2e-1')]);
  assert.deepEqual(list['c'], new NumberText('9007199254740993')); // As a float it would end in 2.
  assert.equal(list['d'], '0.5');
  const cases = { '0.075': 75_000n, '1.1': 1_100_000n, '15': 15_000_000n, '2E-1': 200_000n, '1e3': 1_000_000_000n };
  for (const [text, micros] of Object.entries(cases)) assert.equal(microsOf(text), micros, text);
  assert.equal(microsOf('-1'), -1_000_000n);
  assert.equal(microsOf('0.0000015'), undefined);
  assert.equal(microsOf('0.30000000000000004'), undefined);
  for (const text of ['', 'NaN', '0x1', '1e999', '9'.repeat(25), '1.', '.5'])
    assert.equal(readDecimal(text), undefined);
});

test('MO-10 an exchange rate is exact, rounded up to a micro', () => {
  const rate = readDecimal('0.92');
  assert.ok(rate !== undefined);
  assert.equal(converted(75_000n, rate), 69_000n);
  assert.equal(converted(1n, rate), 1n);
});

test('MO-10 amounts are shown in units', () => {
  const shown = [400_000n, 75_000n, 1n, 0n, 15_000_000n, 1_250_000n, -1_000_000n].map(inUnits);
  assert.deepEqual(shown, ['0.40', '0.075', '0.000001', '0.00', '15.00', '1.25', '-1.00']);
});
