import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import * as catalogue from './catalogue.ts';
import * as control from './control.ts';
import * as dataPlane from './data-plane.ts';
import { explainIssue, issueWords } from './issues.ts';
import * as keys from './keys.ts';
import * as operator from './operator.ts';
import * as usage from './usage.ts';
import * as webhooks from './webhooks.ts';

function explain(schema: z.ZodType, value: unknown): readonly string[] {
  const read = schema.safeParse(value, { error: issueWords, reportInput: true });
  return read.success
    ? []
    : read.error.issues.map((issue) => {
        const { steps, words } = explainIssue(issue);
        return `${steps.join('.')}: ${words}`;
      });
}

test('ER-09 a message names the field, its rule and the input', () => {
  const { registerSchema, newAppSchema, resetSandboxSchema, newPassword } = control;
  const { newKeySchema } = keys;
  for (const [schema, value, said] of [
    [
      registerSchema,
      { email: 'a@b.test', password: 'short' },
      'password: must have at least 10 characters. You sent 5 characters.',
    ],
    [registerSchema, { email: 'no', password: 'x'.repeat(10) }, 'email: must be an e-mail address. You sent `no`.'],
    [newAppSchema, {}, 'name: is required and must be text.'],
    [newAppSchema, { name: '' }, 'name: must have at least 1 character. You sent 0 characters.'],
    [newAppSchema, { name: 7 }, 'name: must be text. You sent `7`.'],
    [newAppSchema, { name: 'a', redirectUris: 'x' }, 'redirectUris: must be a list. You sent `x`.'],
    [
      newKeySchema,
      { mode: 'prod' },
      'mode: must be `live` or `sandbox`; a test key has the mode `sandbox`. You sent `prod`.',
    ],
    [resetSandboxSchema, { balanceMicros: -1 }, 'balanceMicros: must be at least 0. You sent `-1`.'],
    [
      resetSandboxSchema,
      { balanceMicros: 1.5 },
      'balanceMicros: must be a whole number from -(2^53 - 1) to 2^53 - 1. You sent `1.5`.',
    ],
    [resetSandboxSchema, { suspended: 'yes' }, 'suspended: must be `true` or `false`. You sent `yes`.'],
    [
      resetSandboxSchema,
      { balance: 1 },
      'balance: is not accepted here. Accepted: `balanceMicros`, `spendCapMicros` and `suspended`.',
    ],
    [resetSandboxSchema, [], ': must be an object. You sent a list of 0 values.'],
    [newPassword, undefined, ': is required and must be text.'],
    [
      catalogue.catalogueSchema,
      { providers: { a: { kind: 'odd' } }, models: [] },
      'providers.a.kind: must be `openai-compatible`, `simulator`, `anthropic`, `bedrock`, `azure`, `mistral`, `google` or `vertex`.',
    ],
  ] as const) {
    assert.equal(explain(schema, value)[0], said);
  }
});

test('ER-09 no message repeats a secret, long input or line break', () => {
  const schema = z.strictObject({
    password: z.literal('right'),
    currentPassword: z.int(),
    token: z.email(),
    apiKey: z.enum(['x']),
    label: z.enum(['x']),
  });
  const secret = 'hunter2hunter2';
  const label = `line\nbreak\u202e\`${'x'.repeat(10_000)}`;
  const all = explain(schema, { password: secret, currentPassword: secret, token: secret, apiKey: secret, label });
  assert.equal(all.length, 5);
  for (const words of all) {
    assert.ok(!words.includes(secret), words);
    assert.ok(words.length < 200, words);
    assert.doesNotMatch(words, /[\n\u202e]/);
  }
});

const LIBRARY = /expected|received|invalid|too (small|big|short|long)|unrecognized|[<>]=|undefined|NaN|\[object/i;
const SHAPES: readonly unknown[] = [
  undefined,
  null,
  '',
  'x',
  'X y',
  'x'.repeat(30_000), // Longer than every text but a report may be.
  -1,
  0,
  1.5,
  1e300,
  true,
  [],
  ['x'],
  [7],
  Array.from({ length: 100 }, () => 'https://a.test'),
  {},
  { odd: 1 },
];

/** A value of every shape in the place of every field of a schema, also in lists and in objects within. */
function* spoilt(schema: z.ZodType, depth = 0): Generator {
  yield* SHAPES;
  const {
    shape,
    element,
    innerType,
    in: inner,
    options,
    valueType,
  } = schema.def as unknown as {
    readonly shape?: Readonly<Record<string, z.ZodType>>;
    readonly element?: z.ZodType;
    readonly innerType?: z.ZodType;
    readonly in?: z.ZodType;
    readonly options?: readonly z.ZodType[];
    readonly valueType?: z.ZodType;
  };
  if (depth > 3) return;
  for (const part of [innerType, inner, ...(options ?? [])]) if (part !== undefined) yield* spoilt(part, depth + 1);
  if (element !== undefined) for (const value of spoilt(element, depth + 1)) yield [value];
  if (valueType !== undefined)
    for (const value of spoilt(valueType, depth + 1)) yield { name: value, 'odd name': value };
  for (const [name, field] of Object.entries(shape ?? {})) {
    for (const value of spoilt(field, depth + 1)) yield { [name]: value };
  }
}

test('ER-09 every issue of every schema has our own wording', () => {
  const codes = new Set<string>();
  const schemas = [control, keys, operator, dataPlane, usage, webhooks, catalogue].flatMap((module) =>
    Object.values(module).filter((exported): exported is z.ZodType => exported instanceof z.ZodType),
  );
  assert.ok(schemas.length > 50);
  for (const schema of schemas) {
    for (const value of spoilt(schema)) {
      const read = schema.safeParse(value, { error: issueWords, reportInput: true });
      for (const issue of read.error?.issues ?? []) {
        codes.add(issue.code);
        const { words } = explainIssue(issue);
        assert.doesNotMatch(words.replace(/`[^`]*`/g, ''), LIBRARY);
        assert.match(words, /^\S.*\.$/);
        assert.ok(words.length < 600, words);
        if (words.startsWith('is not accepted.')) assert.fail(`${issue.code} has no words: ${JSON.stringify(issue)}`);
      }
    }
  }
  const kinds = ['invalid_type', 'too_small', 'too_big', 'invalid_format', 'invalid_value', 'unrecognized_keys'];
  for (const code of [...kinds, 'invalid_union', 'invalid_key', 'custom']) assert.ok(codes.has(code), code);
});
