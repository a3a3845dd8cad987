import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closeTruncatedJson } from '#providers/answers/truncated-json.ts';

test('CC-24 JSON that was cut off keeps what had arrived', () => {
  for (const [cut, kept] of [
    ['{"a":1,"b":"te', '{"a":1,"b":"te"}'],
    ['{"a":1,"b":"te\\', '{"a":1,"b":"te"}'],
    ['{"a":1,"b":"te\\\\', '{"a":1,"b":"te\\\\"}'],
    ['{"a":1,"b":"te\\u00', '{"a":1,"b":"te"}'],
    ['{"a":1,"b":"te\\\\u00', '{"a":1,"b":"te\\\\u00"}'],
    ['{"a":1,"b', '{"a":1}'],
    ['{"a":1,"b":', '{"a":1}'],
    ['{"a":1,"b":12', '{"a":1}'],
    ['{"a":[1,2', '{"a":[1]}'],
    ['{"a":[{"b":"}]"},{', '{"a":[{"b":"}]"},{}]}'],
    ['{"a":[{"b":[]}', '{"a":[{"b":[]}]}'],
    ['[', '[]'],
    ['', ''],
  ] as const) {
    assert.equal(closeTruncatedJson(cut), kept, cut);
  }
});

test('CC-24 any cut-off JSON object can be parsed', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(2),
      (value, part, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        assert.equal(closeTruncatedJson(text), text);
        const cut = text.slice(0, 1 + Math.floor(part * (text.length - 1)));
        assert.doesNotThrow(() => JSON.parse(closeTruncatedJson(cut)), cut);
      },
    ),
    { numRuns: 3_000 },
  );
});
