import { PARAMETER_TABLE, type ParameterRow } from './parameter-table.ts';

/** Every parameter of the Responses interface, written down independently of the service's own table. */

const wrong = (...values: readonly unknown[]) => values.map((value) => [value] as const);

/** A parameter that takes what one of chat completions does. */
function like(name: string, more: Partial<ParameterRow> = {}, as = name): ParameterRow {
  const row = PARAMETER_TABLE.find((one) => one.name === as);
  if (row === undefined) throw new Error(`The table has no ${as}.`);
  const { beside: _beside, ...rest } = row;
  return { ...rest, name, ...more };
}

const refused = (name: string, value: unknown): ParameterRow => ({
  name,
  kind: 'refused',
  accepted: [],
  refused: wrong(value, true),
});
const neutral = (name: string, value: unknown, ...others: readonly unknown[]): ParameterRow => ({
  name,
  kind: 'neutral',
  accepted: [value],
  defaults: [value],
  refused: wrong(...others),
});

const FIND = { type: 'function', name: 'find', parameters: { type: 'object' } };
const EXEC = { type: 'custom', name: 'exec' };
const tools = [FIND, EXEC, { type: 'namespace', name: 'n', tools: [FIND] }, { type: 'web_search' }];
const pairs = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value]));

export const RESPONSES_TABLE: readonly ParameterRow[] = [
  neutral('background', false, true, 'false', 0),
  { name: 'client_metadata', kind: 'kept', accepted: [{}, { a: 'CANARY' }, 'CANARY', 7, ['CANARY']], refused: [] },
  refused('context_management', [{ type: 'compaction' }]),
  refused('conversation', 'conv_1'),
  {
    name: 'include',
    kind: 'decided',
    accepted: [[], ['reasoning.encrypted_content', 'message.output_text.logprobs'], ['web_search_call.action.sources']],
    refused: [
      ...wrong(
        'reasoning.encrypted_content',
        {},
        7,
        Array.from({ length: 33 }, () => 'reasoning.encrypted_content'),
      ),
      [['reasoning.encrypted_content', 'all'], 'include[1]'],
      [[null], 'include[0]'],
    ],
  },
  { name: 'instructions', kind: 'forwarded', accepted: ['', 'Be brief.'], refused: wrong(['Be brief.'], 7, {}) },
  like('max_output_tokens', {}, 'max_completion_tokens'),
  { name: 'max_tool_calls', kind: 'forwarded', accepted: [1, 1_000], refused: wrong(0, 1_001, 1.5, '1', []) },
  {
    name: 'metadata',
    kind: 'kept',
    accepted: [{}, { a: 'CANARY' }, pairs(16, 'x'.repeat(512)), { ['k'.repeat(64)]: '' }],
    refused: [
      ...wrong([], 'CANARY', 7, pairs(17, 'a'), { ['k'.repeat(65)]: '' }),
      [{ a: 1 }, 'metadata.a'],
      [{ a: 'x'.repeat(513) }, 'metadata.a'],
    ],
  },
  refused('moderation', { model: 'm' }),
  like('parallel_tool_calls', { beside: { tools } }),
  refused('previous_response_id', 'resp_1'),
  refused('prompt', { id: 'pmpt_1' }),
  like('prompt_cache_key'),
  like('prompt_cache_options'),
  like('prompt_cache_retention'),
  {
    name: 'reasoning',
    kind: 'forwarded',
    accepted: [
      {},
      { effort: 'low', summary: 'auto' },
      { effort: null, generate_summary: 'detailed', summary: null },
      { context: 'all_turns', mode: 'standard' },
    ],
    refused: [
      ...wrong('low', [], 7),
      [{ effort: 'extreme' }, 'reasoning.effort'],
      [{ summary: 'long' }, 'reasoning.summary'],
      [{ context: 'none' }, 'reasoning.context'],
      [{ mode: 'pro' }, 'reasoning.mode'],
      [{ budget: 1 }, 'reasoning.budget'],
    ],
  },
  like('safety_identifier'),
  like('service_tier'),
  like('store'),
  like('stream'),
  like('stream_options', { beside: { stream: true } }),
  like('temperature'),
  {
    name: 'text',
    kind: 'forwarded',
    accepted: [
      {},
      { format: null, verbosity: 'low' },
      { format: { type: 'json_object' } },
      { format: { type: 'json_schema', name: 'answer', description: 'd', strict: true, schema: { type: 'object' } } },
    ],
    refused: [
      ...wrong('low', [], 7),
      [{ verbosity: 'loud' }, 'text.verbosity'],
      [{ format: 'text' }, 'text.format'],
      [{ format: { type: 'xml' } }, 'text.format.type'],
      [{ format: { type: 'json_schema' } }, 'text.format.name'],
      [{ format: { type: 'json_schema', name: 'a', schema: 'b' } }, 'text.format.schema'],
      [{ format: { type: 'json_schema', name: 'a', strict: 1 } }, 'text.format.strict'],
      [{ style: 'plain' }, 'text.style'],
    ],
  },
  {
    name: 'tool_choice',
    kind: 'forwarded',
    accepted: [
      'none',
      'auto',
      'required',
      { type: 'function', name: 'find' },
      { type: 'custom', name: 'exec' },
      { type: 'function', name: 'find', namespace: 'n' },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'exec' }] },
    ],
    refused: [
      ...wrong('any', [], 1, { type: 'function', name: 'lose' }, { type: 'custom', name: 'toString' }),
      [{}, 'tool_choice.type'],
      [{ type: 'function' }, 'tool_choice.name'],
      [{ type: 'web_search' }, 'tool_choice.type'],
      [{ type: 'allowed_tools', mode: 'all', tools: [] }, 'tool_choice.mode'],
      [{ type: 'allowed_tools', mode: 'auto', tools: {} }, 'tool_choice.tools'],
      [{ type: 'allowed_tools', mode: 'auto', tools: ['find'] }, 'tool_choice.tools[0]'],
    ],
    beside: { tools },
  },
  {
    name: 'tools',
    kind: 'forwarded',
    accepted: [[], tools, [FIND]],
    refused: [
      ...wrong({}, 'find'),
      [['find'], 'tools[0]'],
      [[{}], 'tools[0].type'],
      [[{ type: 'function', function: { name: 'find' } }], 'tools[0].name'],
      [[{ type: 'function', name: 'x'.repeat(129) }], 'tools[0].name'],
      [[FIND, { ...FIND, name: 'b', parameters: [] }], 'tools[1].parameters'],
      [[{ type: 'namespace', name: 'n' }], 'tools[0].tools'],
      [[{ type: 'file_search' }], 'tools[0].type'],
    ],
  },
  like('top_logprobs'),
  like('top_p'),
  neutral('truncation', 'disabled', 'auto', '', 1),
  like('user'),
];
