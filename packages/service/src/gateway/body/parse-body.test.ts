import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEPTH_MAX, isDeeperThan, parseBody } from '#gateway/body/parse-body.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/** Writes JSON with this many levels. Each bracket is drawn in turn. */
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

test('CC-07 the limit is 32 levels, the root included', () => {
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

test('CC-07 32 levels are parsed, and 33 are refused', () => {
  assert.equal(messageOf(object(31)), undefined);
  assert.equal(messageOf(object(32)), undefined);
  assert.match(messageOf(object(33)) ?? '', /nested deeper than 32 levels/);
});

test('CC-07 closed levels do not add up', () => {
  const flat = `{"a":[${Array.from({ length: 1_000 }, () => '[{}]').join(',')}]}`;
  assert.equal(messageOf(flat), undefined);
});

test('CC-07 brackets, quotes and backslashes inside strings change no level', () => {
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

test('CC-07 the scanned depth of any JSON equals its value’s depth', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat({ max: 9 }), fc.nat({ max: 3 }), (value, levels, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, indent));
      assert.equal(isDeeperThan(bytes, levels), depthOf(value) > levels);
    }),
    { numRuns: 2_000 },
  );
});

test('CC-07 the scan ends for any bytes', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => typeof isDeeperThan(Buffer.from(bytes), 2) === 'boolean'));
  assert.equal(isDeeperThan(Buffer.from('"\\'), 0), false);
});

test('CC-07 a body that is no UTF-8 JSON object is named', () => {
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

test('CC-20 a duplicate name is refused by its path', () => {
  for (const [text, path] of [
    ['{"model":"a","model":"a"}', 'model'],
    ['{"model":"a","b":[{"model":1}],"\\u006dodel":"b"}', 'model'],
    ['{"messages":[{"role":"user"},{"role":"user","x":{},"role":"user"}]}', 'messages[1].role'],
    ['{"a":{"b":[0,[{"c":1,"d":"\\",","c":2}]]}}', 'a.b[1][0].c'],
    ['{"":1,"":2}', ''],
    ['{"1":1,"a":"\\"a\\":","1":2}', '1'],
    ['{"\\ud83d\\ude00":1,"\u{1F600}":2}', '\u{1F600}'],
    ['{ "a" : [ 1 , 2 ] , "b" : { "a" : 1 } , "b" : 3 }', 'b'],
  ] as const) {
    assert.ok(messageOf(text)?.startsWith(`\`${path}\` must be given only once`), text);
  }
  for (const text of ['{"a":{"a":{"a":":"}},"b":[{"a":1},{"a":1}]}', '{"a:a":"a:","A":1,"a":2}', '{"a ":1,"a":2}']) {
    assert.equal(messageOf(text), undefined, text);
  }
});

test('CC-20 a body is refused exactly if a name repeats', () => {
  const name = fc.constantFrom('a', 'b', '\\u0061', 'constructor', '1');
  const { value } = fc.letrec<{ readonly value: { readonly text: string; readonly isRepeating: boolean } }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom({ text: '":{"', isRepeating: false }, { text: ',', isRepeating: false }).map((leaf) => ({
        ...leaf,
        text: JSON.stringify(leaf.text),
      })),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((members) => {
        const names = members.map(([written]) => JSON.parse(`"${written}"`) as string);
        const isHere = new Set(names).size < names.length;
        return {
          text: `{${members.map(([written, { text }]) => `"${written}":${text}`).join(',')}}`,
          isRepeating: isHere || members.some(([, { isRepeating }]) => isRepeating),
        };
      }),
    ),
  }));
  fc.assert(
    fc.property(value, ({ text, isRepeating }) => {
      assert.equal(/only once/.test(messageOf(`{"root":${text}}`) ?? ''), isRepeating, text);
    }),
    { numRuns: 2_000 },
  );
});
