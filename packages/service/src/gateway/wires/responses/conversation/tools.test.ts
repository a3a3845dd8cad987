import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittedOf, toldOf } from '../../../../../../../tests/support/read-responses.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const fn = (name: string, more: JsonObject = {}) => ({ type: 'function', name, ...more });
const asFunction = (name: string, more: JsonObject = {}) => ({ type: 'function', function: { name, ...more } });
const ONE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};
const parameters = { type: 'object', properties: {} };

function namesOf(fields: JsonObject): readonly string[] {
  const tools = fittedOf(fields).request['tools'] as readonly { readonly function: { readonly name: string } }[];
  return tools.map((tool) => tool.function.name);
}

test('WI-04 functions, custom tools and namespaces become functions', () => {
  const tools = [
    fn('look', { description: 'Looks.', parameters, strict: false, defer_loading: true }),
    {
      type: 'custom',
      name: 'exec',
      description: 'Runs.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
    },
    {
      type: 'namespace',
      name: 'agents',
      description: 'Other agents.',
      tools: [
        fn('close', { parameters: null }),
        fn('open', { description: 'Opens.' }),
        { type: 'custom', name: 'tell' },
      ],
    },
  ];
  const added = { type: 'additional_tools', role: 'developer', id: 'at_1', tools: [fn('later'), fn('look')] };
  const fields = { tools, input: [added, { role: 'user', content: 'Hi.' }] };
  assert.deepEqual(fittedOf(fields).request['tools'], [
    asFunction('look', { description: 'Looks.', parameters, strict: false }),
    asFunction('exec', {
      description: 'Runs.\n\n`input` must follow this grammar (lark):\nstart: "a"',
      parameters: ONE_TEXT,
    }),
    asFunction('agents__close', { description: 'Other agents.' }),
    asFunction('agents__open', { description: 'Opens.' }),
    asFunction('agents__tell', { description: '', parameters: ONE_TEXT }),
    asFunction('later'),
  ]);
  assert.deepEqual(Object.fromEntries(toldOf(fields).echo.tools), {
    exec: { type: 'custom', name: 'exec', namespace: undefined },
    agents__close: { type: 'function', name: 'close', namespace: 'agents' },
    agents__open: { type: 'function', name: 'open', namespace: 'agents' },
    agents__tell: { type: 'custom', name: 'tell', namespace: 'agents' },
  });
});

test('WI-04 the names of functions are unique, short, and the same in each request', () => {
  const long = 'x'.repeat(64);
  const tools = [
    fn('a__b'),
    fn('exec'),
    { type: 'custom', name: 'exec' },
    { type: 'custom', name: '7 up.down' },
    { type: 'namespace', name: 'a', tools: [fn('b'), fn(long), fn(`${long}y`)] },
    { type: 'namespace', name: 'a_', tools: [fn('_b')] },
  ];
  const names = namesOf({ tools });
  assert.equal(new Set(names).size, names.length, String(names));
  for (const name of names) assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  assert.deepEqual([names[0], names[1]], ['a__b', 'exec'], 'functions keep theirs');
  assert.deepEqual(namesOf({ tools: tools.toReversed() }).toSorted(), names.toSorted());
});

test('WI-04 calls of the conversation name the functions that stand for their tools', () => {
  const tools = [
    { type: 'custom', name: 'exec' },
    { type: 'namespace', name: 'agents', tools: [fn('close')] },
  ];
  const input = [
    { type: 'custom_tool_call', call_id: 'a', name: 'exec', input: 'ls "x"' },
    { type: 'custom_tool_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'x' }] },
    { type: 'function_call', call_id: 'b', name: 'close', namespace: 'agents', arguments: '{}' },
    { type: 'function_call', call_id: 'c', name: 'close', arguments: '{}' },
    { type: 'function_call', call_id: 'd', name: 'gone', namespace: 'agents', arguments: '{}' },
  ];
  const calls = (fittedOf({ tools, input }).request['messages'] as readonly JsonObject[]).flatMap(
    ({ tool_calls: made = [] }) => (made as readonly JsonObject[]).map((call) => call['function']),
  );
  assert.deepEqual(calls, [
    { name: 'exec', arguments: '{"input":"ls \\"x\\""}' },
    { name: 'agents__close', arguments: '{}' },
    { name: 'agents__close', arguments: '{}' },
    { name: 'agents__gone', arguments: '{}' },
  ]);
});

test('WI-04 a choice among tools is one among their functions', () => {
  const tools = [fn('look'), { type: 'custom', name: 'exec' }, { type: 'namespace', name: 'n', tools: [fn('go')] }];
  const allowed = { type: 'allowed_tools', mode: 'required', tools: [fn('go'), { type: 'custom', name: 'exec' }] };
  for (const [choice, read] of [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [null, undefined],
    [fn('look'), asFunction('look')],
    [fn('go', { namespace: 'n' }), asFunction('n__go')],
    [{ type: 'custom', name: 'exec' }, asFunction('exec')],
    [
      allowed,
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [asFunction('n__go'), asFunction('exec')] } },
    ],
  ] as const) {
    assert.deepEqual(fittedOf({ tools, tool_choice: choice }).request['tool_choice'], read, JSON.stringify(choice));
  }
});

test('WI-04 without tools nothing is said of them, because vendors refuse it', () => {
  for (const tools of [undefined, null, [], [{ type: 'tool_search' }]]) {
    const { request } = fittedOf({ tools, tool_choice: 'auto', parallel_tool_calls: true });
    assert.deepEqual(Object.keys(request).toSorted(), ['messages', 'model'], JSON.stringify(tools));
  }
});

test('WI-04 tools of vendors are left out beside others, and a priced search stays', () => {
  const tools = [fn('look'), { type: 'web_search', external_web_access: false }, { type: 'mcp', server_label: 'a' }];
  const { request, native, leftOut } = fittedOf({ tools });
  assert.deepEqual(request['tools'], [asFunction('look')]);
  assert.deepEqual(native?.['tools'], [fn('look')]);
  assert.deepEqual(leftOut, ['web_search', 'mcp']);
  const local = [{ type: 'apply_patch' }, { type: 'shell', environment: { type: 'local' } }];
  const hosted = { type: 'shell', environment: { type: 'container_auto' } };
  const own = fittedOf({ tools: [...local, hosted, fn('look')], tool_choice: { type: 'shell' } }, { ownForm: true });
  assert.deepEqual([own.native?.['tools'], own.leftOut], [[...local, fn('look')], ['shell']]);
  assert.deepEqual(fittedOf({ tools: [...local, fn('look')] }).leftOut, ['apply_patch', 'shell']);
  const priced = fittedOf({ tools }, { ownForm: true, webSearch: true });
  assert.deepEqual([priced.native?.['tools'], priced.leftOut], [tools.slice(0, 2), ['mcp']]);
  for (const choice of [undefined, 'required', { type: 'web_search' }]) {
    const searching = fittedOf({ tools: [tools[1]], tool_choice: choice }, { ownForm: true, webSearch: true });
    assert.deepEqual([searching.native?.['tools'], searching.leftOut], [[tools[1]], []]);
    assert.equal(searching.request['tool_choice'], undefined);
  }
});
