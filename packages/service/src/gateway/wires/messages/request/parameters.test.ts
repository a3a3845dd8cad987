import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fittedOf,
  readBody,
  readForCount,
  refusalOf,
  toldOf,
} from '../../../../../../../tests/support/read-messages.ts';
import { byOf } from '../../../../../../../tests/support/read-responses.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

const LOOK = { name: 'look', input_schema: { type: 'object' } };
const KNOWN = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
/** A model that takes these parameters, with any value or those given. */
const taking = (values: Readonly<Record<string, readonly unknown[] | undefined>>) => ({
  parameter: (name: string, value?: unknown): boolean => {
    if (!Object.hasOwn(values, name)) return false;
    return value === undefined || (values[name]?.includes(value) ?? true);
  },
});

test('WI-08 parameters are read into those of chat completions', () => {
  const schema = { type: 'object', properties: {} };
  const { request, native, leftOut } = fittedOf(
    {
      system: 'Be brief.',
      max_tokens: 99,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END'],
      stream: true,
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      context_management: { edits: [] },
      betas: ['a'],
      tools: [LOOK],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    { parameter: (name) => !['thinking', 'enable_thinking'].includes(name) },
  );
  assert.deepEqual(request, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello.' },
    ],
    stream: true,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop: ['END'],
    max_completion_tokens: 99,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    reasoning_effort: 'low',
    tools: [KNOWN],
    tool_choice: 'auto',
    parallel_tool_calls: false,
  });
  assert.deepEqual([native, leftOut], [undefined, []]);
});

test('WI-08 a choice among tools is said in the words of functions', () => {
  const choose = (choice: unknown, tools: readonly unknown[] = [LOOK]) =>
    fittedOf({ tools, tool_choice: choice }).request['tool_choice'];
  assert.equal(choose({ type: 'any' }), 'required');
  assert.equal(choose({ type: 'none' }), 'none');
  assert.deepEqual(choose({ type: 'tool', name: 'look' }), { type: 'function', function: { name: 'look' } });
  assert.equal(choose({ type: 'auto' }, []), undefined);
  assert.equal(refusalOf({ tool_choice: { type: 'any' } })[0], 'tool_choice');
  assert.equal(refusalOf({ tools: [LOOK], tool_choice: { type: 'tool', name: 'lose' } })[0], 'tool_choice');
  assert.equal(refusalOf({ tools: [LOOK], tool_choice: { type: 'tool' } })[0], 'tool_choice.name');
  assert.equal(refusalOf({ tools: [LOOK], tool_choice: 'auto' })[0], 'tool_choice');
});

test('WI-08 a tool is a function, and a vendor’s own is refused by its type', () => {
  const tools = [LOOK, { ...LOOK, type: 'custom', name: 'DeferredToolPlaceholder', strict: true, defer_loading: true }];
  const { request } = fittedOf({ tools });
  assert.deepEqual(request['tools'], [
    KNOWN,
    { type: 'function', function: { ...KNOWN.function, name: 'DeferredToolPlaceholder' } },
  ]);
  for (const type of ['web_search_20250305', 'code_execution_20250825', 'bash_20250124', 'mcp_toolset', 7]) {
    const [param, message] = refusalOf({ tools: [LOOK, { type, name: 'x', max_uses: 8 }] });
    assert.equal(param, 'tools[1].type');
    assert.match(message, /must be "custom", or absent: /);
  }
  assert.match(refusalOf({ tools: [{ type: 'web_search_20250305', name: 'a' }] })[1], /search of your own/);
  for (const [tool, param] of [
    ['look', 'tools[0]'],
    [{ name: '' }, 'tools[0].name'],
    [{ ...LOOK, input_schema: 'x' }, 'tools[0].input_schema'],
    [{ ...LOOK, description: 7 }, 'tools[0].description'],
    [{ ...LOOK, cache_control: 'x' }, 'tools[0].cache_control'],
  ] as const) {
    assert.equal(refusalOf({ tools: [tool] })[0], param);
  }
});

test('WI-08 a name too long for most vendors is shortened, and known to the answer', () => {
  const name = `mcp__server__${'x'.repeat(80)}`;
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'b' }] },
  ];
  const fields = { messages, tools: [{ ...LOOK, name }], tool_choice: { type: 'tool', name } };
  const [[short, given] = []] = toldOf(fields).toolNames ?? [];
  assert.deepEqual([given, short?.length], [name, 64]);
  const text = JSON.stringify(fittedOf(fields).request);
  assert.equal(text.split(`"name":"${short}"`).length, 4, text);
});

test('WI-08 thinking is asked for in the words that a model takes', () => {
  const block = { type: 'enabled', budget_tokens: 500 };
  type Values = Readonly<Record<string, readonly unknown[] | undefined>>;
  const cases: readonly (readonly [JsonObject, Values, JsonObject, readonly string[]])[] = [
    [{ thinking: block }, { thinking: undefined }, { thinking: block }, []],
    [
      { thinking: block },
      { enable_thinking: undefined, thinking_budget: undefined },
      { enable_thinking: true, thinking_budget: 500 },
      [],
    ],
    [{ thinking: block }, { reasoning_effort: undefined }, { reasoning_effort: 'medium' }, []],
    [{ thinking: { ...block, budget_tokens: 100 } }, { reasoning_effort: undefined }, { reasoning_effort: 'low' }, []],
    [{ thinking: block }, {}, {}, ['thinking']],
    [{ thinking: { type: 'adaptive' } }, { reasoning_effort: undefined }, { reasoning_effort: 'high' }, []],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { reasoning_effort: ['medium', 'low'] },
      { reasoning_effort: 'medium' },
      [],
    ],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      { reasoning_effort: ['high'] },
      { reasoning_effort: 'high' },
      [],
    ],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { reasoning_effort: undefined }, {}, []],
    [{ thinking: { type: 'disabled' } }, { thinking: undefined }, { thinking: { type: 'disabled' } }, []],
    [{ thinking: { type: 'disabled' } }, { enable_thinking: undefined }, { enable_thinking: false }, []],
    [{ output_config: { effort: 'max' } }, { reasoning_effort: undefined }, { reasoning_effort: 'max' }, []],
    [{ output_config: { effort: 'max' } }, {}, {}, ['output_config.effort']],
    [{ output_config: { effort: 'max' }, temperature: 0 }, { reasoning_effort: undefined }, {}, []],
  ];
  for (const [fields, supports, expected, left] of cases) {
    const { request, leftOut } = fittedOf(fields, taking({ messages: undefined, ...supports }));
    const {
      model: _model,
      messages: _messages,
      max_completion_tokens: _limit,
      temperature: _temperature,
      ...asked
    } = request;
    assert.deepEqual([asked, leftOut], [expected, left], JSON.stringify(fields));
  }
  assert.deepEqual(toldOf({ thinking: { type: 'adaptive', display: 'omitted' } }).thinking, 'hidden');
  assert.deepEqual(toldOf({ thinking: block, stop_sequences: ['a'] }), {
    model: 'm',
    stopSequences: ['a'],
    thinking: 'shown',
    toolNames: new Map(),
  });
});

test('WI-08 what a model does not take is left out where clients send it unasked', () => {
  const { request, leftOut } = fittedOf(
    { top_k: 5, tools: [LOOK], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    taking({ messages: undefined, tools: undefined }),
  );
  assert.deepEqual([request['top_k'], request['parallel_tool_calls']], [undefined, undefined]);
  assert.deepEqual(leftOut, ['tool_choice.disable_parallel_tool_use', 'top_k']);
});

test('WI-10 a limit is a whole number above nought', () => {
  assert.equal(fittedOf({ max_tokens: 64_000 }).request['max_completion_tokens'], 64_000);
  for (const limit of [undefined, null, 0, 1.5, '7']) {
    const [param, message] = refusalOf({ max_tokens: limit });
    assert.equal(param, 'max_tokens');
    assert.match(message, /^`max_tokens` must be /);
  }
});

test('WI-10 a prompt that is only counted needs no limit', () => {
  const request = readForCount(
    { model: 'm', messages: [{ role: 'user', content: 'Hello.' }], system: 'Be brief.' },
    byOf(),
  );
  assert.ok(!(request instanceof Refusal));
});

test('WI-08 a refusal of the model or its vendor names the field of the caller', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'image', source: { type: 'url', url: 'https://a.test' } },
  ];
  const request = readBody({ system: 'a', messages: [{ role: 'user', content }], output_config: { effort: 'low' } });
  assert.ok(!(request instanceof Refusal));
  for (const [inner, param] of [
    ['stop', 'stop_sequences'],
    ['max_completion_tokens', 'max_tokens'],
    ['reasoning_effort', 'output_config.effort'],
    ['response_format.json_schema.schema', 'output_config.format.schema'],
    ['tools[0].function.parameters', 'tools[0].input_schema'],
    ['messages[0].content', 'system'],
    ['messages[1].content[0].text', 'messages[0].content[0].text'],
    ['messages[1].content[1].image_url.url', 'messages[0].content[1].source'],
    ['messages[9]', 'messages'],
    ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
    ['seed', ''],
  ] as const) {
    assert.equal(request.nameOf(inner), param, inner);
  }
});
