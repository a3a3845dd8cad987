import fc from 'fast-check';

/** Bodies of the Messages wire without a model: right ones, and some that are wrong in a place or two. */

const odd = fc.oneof(
  fc.constantFrom(null, true, 7, -1, '', 'a', [], {}, [[]], [null], { type: 7 }, { type: 'text' }, { toString: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);
/** Mostly right, so that a request is wrong in a place or two. */
const oddly = <Value>(right: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: odd });
const words = oddly(fc.string());
const mark = oddly(fc.constantFrom(null, { type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }));
const text = fc.record({ type: oddly(fc.constant('text')), text: words, cache_control: mark });
const image = fc.record({
  type: fc.constant('image'),
  source: oddly(
    fc.constantFrom(
      { type: 'url', url: 'https://a.test' },
      { type: 'base64', media_type: 'image/png', data: 'AAAA' },
      { type: 'file', file_id: 'f' },
    ),
  ),
});
const document = fc.record({
  type: fc.constantFrom('document', 'search_result', 'tool_reference'),
  source: oddly(
    fc.constantFrom({ type: 'text', data: 'a' }, { type: 'content', content: [{ type: 'text', text: 'a' }] }),
  ),
  content: oddly(fc.constant([{ type: 'text', text: 'a' }])),
  title: words,
  tool_name: words,
});
/** What a caller who makes signatures up may put into one. */
const packed = odd.map((value) => `purser.${Buffer.from(JSON.stringify([value])).toString('base64url')}`);
const thought = fc.record({
  type: fc.constantFrom('thinking', 'redacted_thinking'),
  thinking: words,
  signature: oddly(fc.oneof(fc.string(), packed)),
  data: words,
});
const use = fc.record({
  type: fc.constant('tool_use'),
  id: oddly(fc.constantFrom('a', 'b')),
  name: oddly(fc.constantFrom('a', 'constructor', 'x'.repeat(90))),
  input: oddly(fc.constant({ a: 1 })),
});
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: oddly(fc.constantFrom('a', 'b')),
  content: oddly(fc.oneof(fc.string(), fc.array(fc.oneof(text, image, document), { maxLength: 2 }))),
  is_error: oddly(fc.boolean()),
  cache_control: mark,
});
const left = fc.record({ type: fc.constantFrom('server_tool_use', 'web_search_tool_result') });
const blocksOf = (...kinds: readonly fc.Arbitrary<unknown>[]) =>
  oddly(fc.oneof(fc.string(), fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 3 })));
const message = fc.oneof(
  fc.record({ role: oddly(fc.constant('user')), content: blocksOf(text, image, document, result) }),
  fc.record({ role: fc.constant('assistant'), content: blocksOf(text, thought, use, left) }),
  fc.record({ role: fc.constant('system'), content: blocksOf(text), output_config: odd }),
);
const tool = fc.record({
  type: oddly(fc.constantFrom('custom', null)),
  name: oddly(fc.constantFrom('a', 'b', 'constructor', 'x'.repeat(90))),
  description: words,
  input_schema: oddly(fc.constantFrom({ type: 'object' }, null)),
  cache_control: mark,
  strict: odd,
});
const choice = fc.record({
  type: oddly(fc.constantFrom('auto', 'none', 'any', 'tool')),
  name: oddly(fc.constant('a')),
  disable_parallel_tool_use: oddly(fc.boolean()),
});
export const anyMessagesBody = fc.record(
  {
    max_tokens: oddly(fc.constantFrom(1, 1_000)),
    messages: oddly(fc.array(message, { minLength: 1, maxLength: 4 })),
    system: oddly(fc.oneof(fc.string(), fc.array(text, { maxLength: 2 }))),
    tools: oddly(fc.array(tool, { maxLength: 3 })),
    tool_choice: oddly(choice),
    thinking: oddly(fc.constantFrom({ type: 'adaptive' }, { type: 'enabled', budget_tokens: 7 }, { type: 'disabled' })),
    output_config: oddly(
      fc.record({ effort: oddly(fc.constant('low')), format: oddly(fc.constant(null)), other: odd }),
    ),
    stop_sequences: oddly(fc.constant(['a'])),
    cache_control: mark,
    metadata: odd,
    context_management: odd,
    top_k: oddly(fc.constant(5)),
    stream: oddly(fc.boolean()),
  },
  { requiredKeys: ['max_tokens', 'messages'] },
);
