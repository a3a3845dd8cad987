import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExactJson } from '#http/exact-json.ts';

for (const [text, number] of [
  ['0', 0],
  ['-0', -0],
  ['1.0', 1],
  ['1e3', 1_000],
  ['1.50E+1', 15],
  ['1200e-2', 12],
  ['0.0', 0],
  ['0e9', 0],
  ['0.1', 0.1],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740991.0', 9_007_199_254_740_991],
  ['1e15', 1_000_000_000_000_000],
  ['9007199254740992', 9_007_199_254_740_992],
  ['1e400', Number.POSITIVE_INFINITY],
] as const) {
  test(`WA-01 ${text} is taken for what it says`, () => assert.deepEqual(parseExactJson(`[${text}]`), [number]));
}

for (const text of ['1.00000000000000001', '0.99999999999999999', '9007199254740990.9999', '1e-400', '-1e-400']) {
  test(`WA-01 ${text} is not taken for the whole number beside it`, () => {
    assert.deepEqual(parseExactJson(`{"a":{"b":${text}}}`), { a: { b: Number.NaN } });
  });
}

test('a number that is a megabyte long costs no time', () => {
  const zeros = '0'.repeat(1_000_000);
  assert.deepEqual(parseExactJson(`[1.${zeros}1]`), [Number.NaN]);
  assert.deepEqual(parseExactJson(`[${zeros.replaceAll('0', '1')}]`), [Number.POSITIVE_INFINITY]);
});

test('a name that reaches for a prototype is refused, wherever it stands', () => {
  assert.throws(() => parseExactJson('{"a":[{"__proto__":{}}]}'), SyntaxError);
});

test('what is no number is as JSON has it', () => {
  const text = '{"a":"1.00000000000000001","b":[true,null,{}],"c":""}';
  assert.deepEqual(parseExactJson(text), JSON.parse(text));
});
