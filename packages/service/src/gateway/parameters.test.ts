import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedBy, findBadValue, findUnaccepted, KNOWN_PARAMETERS } from '#gateway/parameters.ts';

const named = { type: 'function', function: { name: 'find' } };
const long = (length: number) => 'x'.repeat(length);

/** For each parameter: values that are taken, to the edge, and values just beyond it or of another type. */
const TABLE: Readonly<Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>> = {
  frequency_penalty: { good: [-2, 0, 0.5, 2], bad: [-2.01, 2.01, '0', true, []] },
  logit_bias: { good: [{}, { '50256': -100, a: 100 }], bad: [{ a: 101 }, { a: '1' }, [], 'a', 7] },
  logprobs: { good: [true, false], bad: [0, 1, 'true', {}] },
  max_completion_tokens: { good: [1, 10_000_000], bad: [0, -1, 1.5, 10_000_001, '5', 1e300] },
  max_tokens: { good: [1, 10_000_000], bad: [0, -1, 1.5, 10_000_001, '5', 1e300] },
  metadata: {
    good: [{}, { a: 'b' }],
    bad: [{ a: 1 }, [], 'a', Object.fromEntries(Array.from({ length: 17 }, (_, key) => [key, 'x']))],
  },
  modalities: { good: [['text']], bad: [['audio'], ['text', 'audio'], [], 'text'] },
  n: { good: [1, 128], bad: [0, 129, 1.5, '1', true] },
  parallel_tool_calls: { good: [true, false], bad: ['true', 1] },
  presence_penalty: { good: [-2, 2], bad: [-3, 3, '1'] },
  prompt_cache_key: { good: ['', 'a', long(256)], bad: [long(257), 7, {}] },
  reasoning_effort: { good: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], bad: ['', 'High', 1, true] },
  response_format: {
    good: [{ type: 'text' }, { type: 'json_object' }, { type: 'json_schema', json_schema: { name: 'a', schema: {} } }],
    bad: [{}, { type: 'xml' }, { type: 'json_schema' }, { type: 'json_schema', json_schema: { name: '' } }, 'text', []],
  },
  safety_identifier: { good: ['a', long(256)], bad: [long(257), 7] },
  seed: { good: [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER], bad: [0.5, 2 ** 53, '1', 1e300] },
  service_tier: { good: ['auto', 'default'], bad: ['flex', 'priority', '', 1] },
  stop: { good: ['', 'a', ['a'], ['a', 'b', 'c', 'd']], bad: [[], ['a', 'b', 'c', 'd', 'e'], [1], 7, {}] },
  store: { good: [false], bad: [true, 'false', 0] },
  stream: { good: [true, false], bad: ['true', 1, {}] },
  stream_options: {
    good: [{}, { include_usage: true }, { include_obfuscation: false }],
    bad: [{ include_usage: 1 }, { include: true }, [], true, 'a'],
  },
  temperature: { good: [0, 1.5, 2], bad: [-0.1, 2.1, '1', Number.NaN] },
  tool_choice: {
    good: ['none', 'auto', 'required', named, { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }],
    bad: ['any', {}, { type: 'function' }, { type: 'allowed_tools' }, { type: 'custom', custom: { name: 'a' } }, []],
  },
  tools: {
    good: [[named], [named, { type: 'function', function: { name: 'b', strict: true, parameters: {} } }]],
    bad: [
      [],
      {},
      [{}],
      [{ type: 'custom', custom: { name: 'a' } }],
      [{ type: 'function', function: {} }],
      [named, 'a'],
    ],
  },
  top_logprobs: { good: [0, 20], bad: [-1, 21, 0.5, '1'] },
  top_p: { good: [0, 0.5, 1], bad: [-0.1, 1.1, '1'] },
  user: { good: ['', 'a', long(256)], bad: [long(257), 7, false] },
  verbosity: { good: ['low', 'medium', 'high'], bad: ['', 'loud', 1] },
};

test('CC-13 the table below has every parameter that the gateway knows', () => {
  assert.deepEqual([...Object.keys(TABLE), 'messages', 'model'].toSorted(), [...KNOWN_PARAMETERS].toSorted());
});

for (const [name, { good, bad }] of Object.entries(TABLE)) {
  test(`CC-13 ${name} takes the values of the format, to their edge`, () => {
    for (const value of [...good, null]) {
      assert.equal(findBadValue({ [name]: value }), undefined, JSON.stringify(value));
    }
  });

  test(`CC-07 ${name} is refused by name with any other value, and says what it must be`, () => {
    for (const value of bad) {
      const found = findBadValue({ model: 'm', [name]: value });
      assert.equal(found?.name, name, JSON.stringify(value));
      assert.ok(found.expects.length > 3);
    }
  });
}

test('CC-03 the first parameter that is not known is the one that is named', () => {
  assert.equal(findUnaccepted({ model: 'm', first: 1, second: 2 }, KNOWN_PARAMETERS), 'first');
  assert.equal(findUnaccepted({ model: 'm', messages: [] }, KNOWN_PARAMETERS), undefined);
});

test('CC-03 a null is absent where the parameter is known, and no excuse where it is not', () => {
  const few = acceptedBy(new Set(['temperature']));
  assert.equal(findUnaccepted({ seed: null }, few), undefined);
  assert.equal(findUnaccepted({ seed: 1 }, few), 'seed');
  assert.equal(findUnaccepted({ unheard_of: null }, few), 'unheard_of');
});

test('CC-03 a model’s own list never takes away what the gateway itself acts on, nor adds what it does not know', () => {
  const none = acceptedBy(new Set(['unheard_of']));
  const ours = [
    'model',
    'messages',
    'stream',
    'stream_options',
    'metadata',
    'user',
    'safety_identifier',
    'prompt_cache_key',
  ];
  assert.deepEqual([...none].toSorted(), ours.toSorted());
  assert.equal(acceptedBy(undefined), KNOWN_PARAMETERS);
});
