import fc from 'fast-check';

/** Bodies of the Responses wire without a model: right ones, and some that are wrong in a place or two. */

const odd = fc.oneof(
  fc.constantFrom(null, true, 7, -1, '', 'a', [], {}, [[]], [null], { type: 7 }, { type: 'message' }, { id: 'a' }),
  fc.jsonValue({ maxDepth: 2 }),
);
const TYPES = ['message', 'message', 'function_call', 'function_call_output', 'custom_tool_call', 'additional_tools'];
const MORE_TYPES = [
  'custom_tool_call_output',
  'apply_patch_call',
  'shell_call_output',
  'image_generation_call',
  'web_search_call',
];
/** Mostly right, so that a request is wrong in a place or two. */
const oddly = <Value>(right: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 24, arbitrary: right }, { weight: 1, arbitrary: odd });
const words = oddly(fc.string());
const part = fc.record({
  type: oddly(fc.constantFrom('input_text', 'output_text', 'input_image', 'refusal')),
  text: words,
  refusal: words,
  image_url: oddly(fc.constant('https://a.test')),
  detail: oddly(fc.constantFrom('low', null)),
});
const tool = fc.record({
  type: oddly(fc.constantFrom('function', 'custom', 'web_search', 'tool_search')),
  name: oddly(fc.constantFrom('a', 'b', 'constructor', 'toString', 'valueOf')),
  parameters: oddly(fc.constantFrom({}, null)),
  format: odd,
});
const space = fc.record({
  type: fc.constant('namespace'),
  name: words,
  tools: oddly(fc.array(tool, { maxLength: 2 })),
});
const tools = oddly(fc.array(fc.oneof(tool, space), { maxLength: 3 }));
const item = fc.record({
  type: oddly(fc.constantFrom(...TYPES, ...MORE_TYPES)),
  role: oddly(fc.constantFrom('user', 'assistant', 'developer')),
  content: oddly(fc.oneof(fc.string(), fc.array(part, { minLength: 1, maxLength: 3 }))),
  call_id: oddly(fc.constantFrom('a', 'b')),
  name: oddly(fc.constantFrom('a', 'constructor')),
  namespace: oddly(fc.constantFrom('a', null)),
  arguments: oddly(fc.constant('{}')),
  input: words,
  output: oddly(fc.oneof(fc.string(), fc.array(part, { maxLength: 2 }))),
  id: odd,
  tools,
});
const thought = fc.record({
  type: fc.constant('reasoning'),
  summary: odd,
  content: odd,
  encrypted_content: odd,
  id: odd,
});
export const anyResponsesBody = fc.record({
  input: oddly(fc.oneof(fc.string(), fc.array(fc.oneof({ weight: 9, arbitrary: item }, thought), { maxLength: 4 }))),
  tools,
  tool_choice: oddly(fc.oneof(fc.constantFrom('auto', 'none', null), tool)),
  text: oddly(fc.record({ format: oddly(fc.constant({ type: 'text' })), verbosity: oddly(fc.constant('low')) })),
  reasoning: oddly(fc.record({ effort: oddly(fc.constant('low')), summary: oddly(fc.constant('auto')) })),
  include: oddly(fc.constant(['reasoning.encrypted_content'])),
  metadata: oddly(fc.constant({ a: 'b' })),
  instructions: words,
  stream: oddly(fc.boolean()),
});
