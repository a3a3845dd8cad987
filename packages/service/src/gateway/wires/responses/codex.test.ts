import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedOf, toldOf } from '../../../../../../tests/support/read-responses.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The bodies of Codex CLI 0.171, whose form follows from the model's name. */

const text = (said: string) => [{ type: 'input_text', text: said }];
const message = (role: string, said: string, id: string) => ({ type: 'message', role, id, content: text(said) });
const fn = (name: string) => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  strict: false,
  parameters: { type: 'object', properties: {}, additionalProperties: false },
});
const custom = (name: string) => ({
  type: 'custom',
  name,
  description: 'Free text.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
});
const space = (name: string, ...tools: readonly JsonObject[]) => {
  return { type: 'namespace', name, description: `Tools of ${name}.`, tools };
};
const START = [
  message('developer', 'You are an agent.', 'msg_0b2f6a52-6d3e-4bb5-a0cf-1c2f6b7f5a10'),
  message('user', '<environment_context/>', 'msg_1b2f6a52-6d3e-4bb5-a0cf-1c2f6b7f5a10'),
  message('user', 'Say hello.', 'msg_2b2f6a52-6d3e-4bb5-a0cf-1c2f6b7f5a10'),
];
const COMMON = {
  stream: true,
  input: START,
  tool_choice: 'auto',
  parallel_tool_calls: false,
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '019a',
  client_metadata: { 'x-codex-turn-metadata': '{"session":"s"}', originator: 'codex_exec' },
};
const search = { type: 'web_search', external_web_access: false };
const FORMS: Readonly<Record<string, { readonly body: JsonObject; readonly functions: readonly string[] }>> = {
  'of a name that it does not know': {
    body: {
      ...COMMON,
      tools: [fn('exec_command'), fn('update_plan'), space('multi_agent_v1', fn('close_agent')), search],
      reasoning: { summary: 'auto' },
    },
    functions: ['exec_command', 'update_plan', 'multi_agent_v1__close_agent'],
  },
  'of gpt-5.5': {
    body: {
      ...COMMON,
      tools: [fn('exec_command'), custom('apply_patch'), { type: 'tool_search', execution: 'client' }, search],
      reasoning: { effort: 'medium' },
      text: { verbosity: 'low' },
    },
    functions: ['exec_command', 'apply_patch'],
  },
  'of gpt-6-luna': {
    body: {
      ...COMMON,
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          id: 'at_1',
          tools: [space('functions', custom('exec'), fn('wait')), space('clock', fn('now'))],
        },
        ...START,
      ],
      reasoning: { effort: 'low', context: 'all_turns' },
    },
    functions: ['functions__exec', 'functions__wait', 'clock__now'],
  },
};

for (const [name, { body, functions }] of Object.entries(FORMS)) {
  test(`WI-04 the body ${name} is read whole`, () => {
    const { request, native } = fittedOf(body);
    const tools = request['tools'] as readonly { readonly function: { readonly name: string } }[];
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      functions,
    );
    const roles = (request['messages'] as readonly JsonObject[]).map(({ role }) => role);
    assert.deepEqual(roles, ['developer', 'user', 'user']);
    const sent = JSON.stringify(native);
    assert.doesNotMatch(sent, /client_metadata|prompt_cache_key|web_search|"store"/);
    for (const { id } of START) assert.ok(sent.includes(id), 'ids of its own stay');
  });
}

test('WI-04 the calls of Codex come back with the names that it gave', () => {
  const { body = COMMON } = FORMS['of gpt-6-luna'] ?? {};
  const calls = [
    { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'sealed' },
    { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'a', name: 'exec', input: 'ls' },
    { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'a', output: text('a.txt') },
    { type: 'function_call', id: 'fc_1', call_id: 'b', name: 'now', namespace: 'clock', arguments: '{}' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'b', output: '22:00' },
  ];
  const { request, native = {} } = fittedOf({
    ...body,
    input: [...(body['input'] as readonly JsonObject[]), ...calls],
  });
  const called = (request['messages'] as readonly JsonObject[]).flatMap(({ tool_calls: made = [] }) =>
    (made as readonly { readonly function: unknown }[]).map((call) => call.function),
  );
  assert.deepEqual(called, [
    { name: 'functions__exec', arguments: '{"input":"ls"}' },
    { name: 'clock__now', arguments: '{}' },
  ]);
  assert.deepEqual((native['input'] as readonly unknown[]).slice(-calls.length), calls);
  assert.deepEqual(toldOf(body).echo.tools.get('functions__exec'), {
    type: 'custom',
    name: 'exec',
    namespace: 'functions',
  });
});
