import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceOf } from './schema-instance.ts';

test('OP-01 an instance conforms to its schema', () => {
  const cases: readonly (readonly [unknown, unknown])[] = [
    [{ type: 'object', properties: { a: { type: 'boolean' }, b: { type: 'string' } }, required: ['a'] }, { a: true }],
    [
      { properties: { a: { type: ['null', 'string'] } }, required: ['a', 'unknown'] },
      { a: null, unknown: 'example' },
    ],
    [{ enum: ['x', 'y'] }, 'x'],
    [{ const: { a: [1] } }, { a: [1] }],
    [{ type: 'array', items: { type: 'integer' } }, []],
    [{ type: 'array', items: { type: 'integer', minimum: 2.5 }, minItems: 2 }, [3, 3]],
    [{ type: 'integer', exclusiveMaximum: -4 }, -5],
    [{ type: 'integer', minimum: 11, multipleOf: 5 }, 15],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: 'string', minLength: 10, maxLength: 12 }, 'example ex'],
    [{ type: 'string', maxLength: 2 }, 'ex'],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ type: 'string', format: 'constructor' }, 'example'],
    [{ anyOf: [{ $ref: '#' }, { type: 'null' }] }, null],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'example'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { const: 7 } } }, 7],
    [
      {
        allOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: { const: 2 } }, required: ['b'] },
        ],
      },
      { a: 1, b: 2 },
    ],
    [true, 'example'],
    ['nonsense', 'example'],
    [{ type: 7 }, 'example'],
  ];
  for (const [schema, instance] of cases) assert.deepEqual(instanceOf(schema), instance, JSON.stringify(schema));
});

test('OP-01 a key called __proto__ is an ordinary key', () => {
  const instance = instanceOf(JSON.parse('{"properties":{"__proto__":{"const":1}},"required":["__proto__"]}'));
  assert.equal(JSON.stringify(instance), '{"__proto__":1}');
});

test('OP-01 an infinite schema quickly gives a small instance', () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key${index}`, {}]));
  const endless: readonly object[] = [
    { $ref: '#' },
    { properties: { next: { $ref: '#' } }, required: ['next'] },
    { type: 'array', items: { $ref: '#' }, minItems: 1e300 },
    { allOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] },
    { type: 'array', items: { const: 'x'.repeat(1_000_000) }, minItems: 1e9 },
    { type: 'array', items: { type: 'string', minLength: 1e9 }, minItems: 1e9 },
    {
      type: 'array',
      items: { allOf: [{ $ref: '#/$defs/wide' }, { $ref: '#/$defs/wide' }] },
      minItems: 1e9,
      $defs: { wide: { properties: wide } },
    },
    { properties: wide, required: Object.keys(wide) },
  ];
  for (const schema of endless) assert.ok(JSON.stringify(instanceOf(schema)).length < 20_000);
});
