import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEPTH_MAX, isDeeperThan, parseBody } from '#gateway/request/parse-body.ts';
import { Refusal } from '#kernel/refusal.ts';

/** JSON with this many levels; each bracket is drawn in turn. */
function nested(levels: number, isArray: (level: number) => boolean, inside = ''): string {
  let text = inside;
  for (let level = levels; level >= 1; level -= 1) {
    text = isArray(level) ? `[${text}]` : `{"a":${text === '' ? '1' : text}}`;
  }
  return text;
}

function messageOf(text: string | Buffer): string | undefined {
  const parsed = parseBody(Buffer.from(text));
  return parsed instanceof Refusal ? parsed.message : undefined;
}

test('CC-07 the limit is 32 levels, counting the root as the first', () => {
  assert.equal(DEPTH_MAX, 32);
  for (const isArray of [() => true, () => false, (level: number) => level % 2 === 0]) {
    for (const [levels, isDeeper] of [
      [1, false],
      [31, false],
      [32, false],
      [33, true],
      [34, true],
    ] as const) {
      assert.equal(isDeeperThan(Buffer.from(nested(levels, isArray)), DEPTH_MAX), isDeeper, `${levels}`);
    }
  }
});

function object(levels: number): string {
  return nested(levels, () => false);
}

test('CC-07 32 levels are parsed, and 33 are refused as too deep', () => {
  assert.equal(messageOf(object(31)), undefined);
  assert.equal(messageOf(object(32)), undefined);
  assert.match(messageOf(object(33)) ?? '', /nested deeper than 32 levels/);
});

test('CC-07 closed levels do not add up', () => {
  const flat = `{"a":[${Array.from({ length: 1_000 }, () => '[{}]').join(',')}]}`;
  assert.equal(messageOf(flat), undefined);
});

test('CC-07 brackets, quotes and backslashes inside strings open no level, and end no string too early', () => {
  const texts = [
    '['.repeat(50),
    '{'.repeat(50),
    ']'.repeat(50),
    '"',
    '\\',
    '\\"',
    '"['.repeat(40),
    '\\'.repeat(7),
    '\u005b',
    '\n',
  ];
  for (const text of texts) {
    for (const inside of [text, `${text}\\`, `"${text}`]) {
      const key = JSON.stringify({ [inside]: 1, a: inside });
      assert.equal(messageOf(key), undefined, key);
      const deep = `{${JSON.stringify(inside)}:${nested(32, () => true)}}`;
      assert.match(messageOf(deep) ?? '', /deeper/, deep);
      const justNot = `{${JSON.stringify(inside)}:${nested(31, () => true)}}`;
      assert.equal(messageOf(justNot), undefined, justNot);
    }
  }
});

test('CC-07 brackets written as escapes are text', () => {
  assert.equal(messageOf(`{"a":"${'\\u005b'.repeat(100)}"}`), undefined);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('CC-07 the depth found for any JSON is the depth found by walking its value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat({ max: 9 }), fc.nat({ max: 3 }), (value, levels, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, indent));
      assert.equal(isDeeperThan(bytes, levels), depthOf(value) > levels);
    }),
    { numRuns: 2_000 },
  );
});

test('CC-07 the scan ends for any bytes, even in the middle of an escape', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => typeof isDeeperThan(Buffer.from(bytes), 2) === 'boolean'));
  assert.equal(isDeeperThan(Buffer.from('"\\'), 0), false);
});

test('CC-07 a body must be a JSON object in UTF-8, and the refusal says what it is instead', () => {
  assert.deepEqual(parseBody(Buffer.from(' {"a":"ä\u{1F600}"} ')), { a: 'ä\u{1F600}' });
  for (const [text, says] of [
    ['', /not valid JSON/],
    ['{', /not valid JSON/],
    ['{"a":1,}', /not valid JSON/],
    ['{"a":NaN}', /not valid JSON/],
    ['[]', /must be a JSON object/],
    ['null', /must be a JSON object/],
    ['"{}"', /must be a JSON object/],
    [Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), /not valid UTF-8/],
    [Buffer.from([0xed, 0xa0, 0x80]), /not valid UTF-8/],
    [Buffer.from('{}', 'utf16le'), /not valid JSON/],
  ] as const) {
    assert.match(messageOf(text) ?? 'taken', says, String(text));
  }
});
