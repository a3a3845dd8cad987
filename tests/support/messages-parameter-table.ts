import { PARAMETER_TABLE, type ParameterRow } from './parameter-table.ts';

/** Every parameter of the Messages interface, written down independently of the service's own table. */

const wrong = (...values: readonly unknown[]) => values.map((value) => [value] as const);

/** A parameter that takes what one of chat completions does. */
function like(name: string, as = name): ParameterRow {
  const row = PARAMETER_TABLE.find((one) => one.name === as);
  if (row === undefined) throw new Error(`The table has no ${as}.`);
  const { beside: _beside, ...rest } = row;
  return { ...rest, name };
}

const neutral = (name: string, values: readonly unknown[], ...others: readonly unknown[]): ParameterRow => ({
  name,
  kind: 'neutral',
  accepted: values,
  defaults: values,
  refused: wrong(...others),
});
const kept = (name: string): ParameterRow => ({
  name,
  kind: 'kept',
  accepted: [{}, { a: 'CANARY' }, 'CANARY', 7, ['CANARY']],
  refused: [],
});

const FIND = { name: 'find', input_schema: { type: 'object' } };
const FORMAT = { type: 'json_schema', schema: { type: 'object', properties: {} } };
const MARK = { type: 'ephemeral' };
const tools = [FIND, { ...FIND, name: 'constructor', type: 'custom', description: 'Finds.', defer_loading: true }];

export const MESSAGES_TABLE: readonly ParameterRow[] = [
  kept('betas'),
  {
    name: 'cache_control',
    kind: 'forwarded',
    accepted: [MARK, { ...MARK, ttl: '5m' }, { ...MARK, ttl: '1h' }, { ...MARK, ttl: null }],
    refused: wrong('ephemeral', {}, { type: 'forever' }, { ...MARK, ttl: '1d' }, [MARK]),
  },
  { name: 'container', kind: 'refused', accepted: [], refused: wrong('container_1', {}) },
  kept('context_management'),
  neutral('inference_geo', ['global'], 'us', '', 1),
  like('max_tokens'),
  neutral('mcp_servers', [[]], [{ type: 'url', url: 'https://a.test', name: 'a' }], 'a', {}),
  kept('metadata'),
  {
    name: 'output_config',
    kind: 'forwarded',
    accepted: [
      {},
      { effort: 'low' },
      { effort: 'max', format: FORMAT },
      { effort: null, format: null },
      { task_budget: 7 },
    ],
    refused: [
      ...wrong('low', [], 7),
      [{ effort: 'extreme' }, 'output_config.effort'],
      [{ effort: 'none' }, 'output_config.effort'],
      [{ format: 'json' }, 'output_config.format'],
      [{ format: { type: 'text' } }, 'output_config.format.type'],
      [{ format: { type: 'json_schema' } }, 'output_config.format.schema'],
      [{ format: { type: 'json_schema', schema: 'a' } }, 'output_config.format.schema'],
    ],
  },
  {
    name: 'output_format',
    kind: 'forwarded',
    accepted: [FORMAT],
    refused: [
      ...wrong('json', [], 7),
      [{ type: 'text' }, 'output_format.type'],
      [{ ...FORMAT, schema: [] }, 'output_format.schema'],
    ],
  },
  neutral('service_tier', ['auto', 'standard_only'], 'priority', '', 7),
  neutral('speed', ['standard'], 'fast', true),
  {
    name: 'stop_sequences',
    kind: 'forwarded',
    accepted: [[], ['END'], ['a', 'b', 'c', 'd']],
    refused: wrong('END', {}, 7, ['a', 7], ['a', 'b', 'c', 'd', 'e']),
  },
  like('stream'),
  {
    name: 'system',
    kind: 'forwarded',
    accepted: ['', 'Be brief.', [], [{ type: 'text', text: 'Be brief.', cache_control: MARK }]],
    refused: [
      ...wrong(7, {}),
      [['Be brief.'], 'system[0]'],
      [[{ type: 'image', source: {} }], 'system[0]'],
      [[{ type: 'text', text: 7 }], 'system[0].text'],
      [[{ type: 'text', text: 'a', cache_control: {} }], 'system[0].cache_control'],
    ],
  },
  like('temperature'),
  {
    name: 'thinking',
    kind: 'forwarded',
    accepted: [
      { type: 'disabled' },
      { type: 'adaptive', display: 'omitted' },
      { type: 'enabled', budget_tokens: 1_024 },
      { type: 'enabled', budget_tokens: null },
    ],
    refused: [
      ...wrong('enabled', [], true),
      [{}, 'thinking.type'],
      [{ type: 'auto' }, 'thinking.type'],
      [{ type: 'enabled', budget_tokens: 0 }, 'thinking.budget_tokens'],
      [{ type: 'enabled', budget_tokens: 1.5 }, 'thinking.budget_tokens'],
    ],
  },
  {
    name: 'tool_choice',
    kind: 'forwarded',
    accepted: [
      { type: 'auto' },
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'none' },
      { type: 'tool', name: 'find', disable_parallel_tool_use: null },
    ],
    refused: [
      ...wrong('auto', [], 1, { type: 'tool', name: 'lose' }),
      [{}, 'tool_choice.type'],
      [{ type: 'required' }, 'tool_choice.type'],
      [{ type: 'tool' }, 'tool_choice.name'],
      [{ type: 'auto', disable_parallel_tool_use: 1 }, 'tool_choice.disable_parallel_tool_use'],
    ],
    beside: { tools },
  },
  {
    name: 'tools',
    kind: 'forwarded',
    accepted: [[], tools, [{ ...FIND, cache_control: MARK }], [{ ...FIND, input_schema: null }]],
    refused: [
      ...wrong({}, 'find'),
      [['find'], 'tools[0]'],
      [[{}], 'tools[0].name'],
      [[{ name: 'x'.repeat(129) }], 'tools[0].name'],
      [[FIND, { ...FIND, input_schema: [] }], 'tools[1].input_schema'],
      [[{ ...FIND, description: 7 }], 'tools[0].description'],
      [[{ type: 'web_search_20250305', name: 'web_search' }], 'tools[0].type'],
      [[{ ...FIND, cache_control: 'x' }], 'tools[0].cache_control'],
    ],
  },
  { name: 'top_k', kind: 'forwarded', accepted: [0, 5, 1_000_000], refused: wrong(-1, 1_000_001, 1.5, '5') },
  like('top_p'),
];
