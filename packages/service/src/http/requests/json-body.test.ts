import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExactBody } from '#http/requests/json-body.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

function paramOf(text: string): string | undefined {
  const body = parseExactBody(Buffer.from(text));
  return body instanceof Refusal ? body.detail.param : undefined;
}

test('CP-15 a duplicate name is refused at any depth', () => {
  for (const [text, param] of [
    ['{"a":1,"a":1}', 'a'],
    ['{"a":{"b":[{"c":1},{"c":1,"d":2,"c":3}]}}', 'a.b[1].c'],
    [String.raw`{"email":1,"\u0065mail":2}`, 'email'],
    ['{"a":"}","b":"\\"{","a":0}', 'a'],
    ['{"":1,"":2}', ''],
  ] as const) {
    assert.equal(paramOf(text), param, text);
  }
  for (const text of ['{"a":{"a":{"a":1}}}', '{"a":["a","a"],"b":"a"}', '{"a":{"x":1},"b":{"x":1}}', '{}']) {
    assert.ok(!(parseExactBody(Buffer.from(text)) instanceof Refusal), text);
  }
});

test('CP-15 a number that parsing would change is refused', () => {
  const refused = ['-0', '-0.0', '9007199254740992', '9007199254740993', '-9007199254740992', '1e16', '1e-400'];
  const rounded = ['9007199254740990.7', '0.99999999999999999999', '1.00000000000000000001', '1E22', '5e-324e'];
  for (const number of [...refused, ...rounded.slice(0, 4)])
    assert.equal(paramOf(`{"a":[0,${number}]}`), 'a[1]', number);
  const taken = ['0', '7', '-7', '0.0', '1.0', '10e-1', '1.50e1', '1e3', '1E+3', '1.5', '0.1', '9007199254740991'];
  for (const number of taken) {
    assert.deepEqual(parseExactBody(Buffer.from(`{"a":${number}}`)), { a: Number(number) }, number);
  }
});

test('CP-15 an integer is accepted in any notation, and a near-integer is not', () => {
  const whole = fc.maxSafeInteger().filter((value) => value !== 0); // The numbers next to 0 are not rounded.
  fc.assert(
    fc.property(whole, fc.nat(30), (value, places) => {
      const digits = String(Math.abs(value));
      const sign = value < 0 ? '-' : '';
      const shifted = `${sign}${digits}${'0'.repeat(places)}e-${places}`;
      assert.equal(paramOf(`{"a":${shifted}}`), undefined, shifted);
      const beside = `${sign}${digits}.${'0'.repeat(places + 17)}1`;
      assert.equal(paramOf(`{"a":${beside}}`), 'a', beside);
    }),
  );
});

test('CP-15 NUL and unpaired surrogates are refused, in values and in names', () => {
  for (const [text, param] of [
    [String.raw`{"a":"x\u0000"}`, 'a'],
    [String.raw`{"a":["\ud800"]}`, 'a[0]'],
    [String.raw`{"a":"\udc00\ud800"}`, 'a'],
    [String.raw`{"a":{"\u0000":1}}`, 'a.\ufffd'],
  ] as const) {
    assert.equal(paramOf(text), param, text);
  }
  assert.equal(paramOf(String.raw`{"a":"\ud83d\ude00","b":"😀"}`), undefined);
});

test('CP-15 parsing a megabyte takes linear time', () => {
  const zeros = '0'.repeat(1_000_000);
  assert.equal(paramOf(`{"a":0.${zeros}1}`), 'a');
  assert.equal(paramOf(`{"a":0.${zeros}}`), undefined);
  const long = 'x\\n'.repeat(340_000);
  assert.equal(paramOf(`{"a":"${long}"}`), undefined);
  assert.equal(paramOf(`{"a":[${'"x",'.repeat(200_000)}1e-400]}`), 'a[200000]');
});
