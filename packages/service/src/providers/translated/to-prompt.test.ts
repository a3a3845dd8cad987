import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropicDialect } from '#providers/anthropic/dialect.ts';
import { createToolDeltas } from '#providers/translated/tool-deltas.ts';
import { toPrompt } from '#providers/translated/to-prompt.ts';

const DIALECT = anthropicDialect({ baseUrl: 'https://api.example.test/v1' });
const format = DIALECT.reasoning.format;
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } };

/** The parts of an assistant's message in a few words each. */
function partsOf(message: Readonly<Record<string, unknown>>): readonly string[] {
  const [made] = toPrompt(DIALECT, [{ role: 'assistant', ...message }]);
  assert.ok(made?.role === 'assistant');
  return made.content.map((part) => {
    if (part.type === 'reasoning') return `${part.text} ${JSON.stringify(part.providerOptions?.['anthropic'])}`;
    return part.type === 'text' ? part.text : part.type;
  });
}

test('MO-09 sealed thinking returns to its place, in pieces or joined', () => {
  const details = [
    { type: 'reasoning.text', index: 0, format, text: 'First' },
    { type: 'reasoning.text', index: 0, format, text: ' thought' },
    { type: 'reasoning.text', index: 0, format, signature: 's0' },
    { type: 'reasoning.text', index: 2, format, text: 'Second', signature: 's2' },
    { type: 'reasoning.encrypted', index: 3, format, data: 'd3' },
  ];
  const sent = [
    'First thought {"signature":"s0"}',
    'Said',
    'Second {"signature":"s2"}',
    ' {"redactedData":"d3"}',
    'tool-call',
  ];
  assert.deepEqual(partsOf({ content: 'Said', reasoning_details: details, tool_calls: [call] }), sent);
});

test('MO-09 thinking unsealed or from another vendor is not sent', () => {
  const details = [
    { type: 'reasoning.text', index: 0, format: 'other-v1', text: 'a', signature: 's' },
    { type: 'reasoning.text', index: 1, format, text: 'b' },
  ];
  const shown = { reasoning_content: 'a', reasoning: 'b', annotations: [] };
  assert.deepEqual(partsOf({ content: 'Said', reasoning_details: details, ...shown }), ['Said']);
});

test('MO-09 messages keep their texts, order and cache marks', () => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  const prompt = toPrompt(DIALECT, [
    {
      role: 'system',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      cache_control: mark,
    },
    { role: 'developer', content: 'c' },
    { role: 'user', content: [{ type: 'text', text: 'd', cache_control: mark }] },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'e' }] },
  ]);
  const providerOptions = { anthropic: { cacheControl: mark } };
  assert.deepEqual(prompt, [
    { role: 'system', content: 'a' },
    { role: 'system', content: 'b', providerOptions },
    { role: 'system', content: 'c' },
    { role: 'user', content: [{ type: 'text', text: 'd', providerOptions }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'No.' },
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_1',
          toolName: 'weather',
          output: { type: 'content', value: [{ type: 'text', text: 'e' }] },
        },
      ],
    },
  ]);
});

test('CC-13 a tool call that comes whole has its arguments once', () => {
  const deltas = createToolDeltas(DIALECT, undefined);
  const begun = { id: 'a', type: 'function', function: { name: 'find', arguments: '' } };
  assert.deepEqual(deltas.begin({ type: 'tool-input-start', id: 'a', toolName: 'find' }), {
    tool_calls: [{ index: 0, ...begun }],
  });
  assert.equal(deltas.goOn({ type: 'tool-input-delta', id: 'a', delta: '' }), undefined);
  const end = { type: 'tool-call', toolName: 'find', input: '{}' } as const;
  assert.deepEqual(deltas.end({ ...end, toolCallId: 'a' }), {
    tool_calls: [{ index: 0, function: { arguments: '{}' } }],
  });
  assert.equal(deltas.end({ ...end, toolCallId: 'a' }), undefined);
  assert.deepEqual(deltas.end({ ...end, toolCallId: 'b' }), {
    tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'find', arguments: '{}' } }],
  });
});
