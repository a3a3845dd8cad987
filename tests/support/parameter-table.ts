/** Every parameter of the compatible format, written down independently of the service's own table. */
export interface ParameterRow {
  readonly name: string;
  /**
   * A `forwarded` parameter goes to the provider as it came. Of a `neutral` one, only a value that changes nothing is
   * accepted. A `kept` one is accepted, but not forwarded as it came. On a `decided` one the gateway acts, and sends
   * what it decides. A `refused` one is refused by name. A `vendor` one goes to the provider as it came, if the model
   * lists it.
   */
  readonly kind: 'forwarded' | 'neutral' | 'kept' | 'decided' | 'refused' | 'vendor';
  readonly accepted: readonly unknown[];
  /** Documented defaults, which every model accepts, even one that does not know the parameter. */
  readonly defaults?: readonly unknown[];
  /** Each with the path of its fault, if that is not just the name. */
  readonly refused: readonly (readonly [value: unknown, path?: string])[];
  /** Other fields that a request with it needs. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

/** Writes numbers that JSON cannot. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
/** A number that JSON can express and no program can represent. */
const TOO_LARGE: unknown = rawJSON('1e400');
/** One more than the last whole number that every program can tell from its neighbours. */
const UNSAFE: unknown = rawJSON('9007199254740993');

const SCHEMA = { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } }, required: ['a'] };
const FIND = { type: 'function', function: { name: 'find', description: 'Finds.', strict: true, parameters: SCHEMA } };
const tools = [FIND, { type: 'function', function: { name: 'constructor', parameters: null } }];
const choice = (name: unknown) => ({ type: 'function', function: { name } });
const allowed = (mode: unknown, listed: unknown) => {
  return { type: 'allowed_tools', allowed_tools: { mode, tools: listed } };
};
const pairs = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value]));
const wrong = (...values: readonly unknown[]) => values.map((value) => [value] as const);

const between = (name: string, least: number, most: number, normal: number): ParameterRow => ({
  name,
  kind: 'forwarded',
  accepted: [least, most, 0.123456789, normal],
  defaults: [normal],
  refused: wrong(least - 0.01, most + 0.01, TOO_LARGE, '1', true, [], {}),
});
const outputLimit = (name: string): ParameterRow => ({
  name,
  kind: 'decided',
  accepted: [1, 16, 10_000_000],
  refused: wrong(0, -1, 1.5, 10_000_001, UNSAFE, TOO_LARGE, '5', true, []),
});
const switchFor = (name: string, normal: boolean, more: Partial<ParameterRow> = {}): ParameterRow => ({
  name,
  kind: 'forwarded',
  accepted: [true, false],
  defaults: [normal],
  refused: wrong(0, 1, 'true', [], {}),
  ...more,
});
const ownText = (name: string): ParameterRow => ({
  name,
  kind: 'kept',
  accepted: ['CANARY', `CANARY${'x'.repeat(250)}`],
  refused: wrong(`CANARY${'x'.repeat(251)}`, 7, false, {}, ['CANARY']),
});
const refusedByName = (name: string, value: unknown): ParameterRow => ({
  name,
  kind: 'refused',
  accepted: [],
  refused: wrong(value, true),
});

export const PARAMETER_TABLE: readonly ParameterRow[] = [
  refusedByName('audio', { voice: 'alloy', format: 'wav' }),
  between('frequency_penalty', -2, 2, 0),
  refusedByName('function_call', 'auto'),
  refusedByName('functions', [{ name: 'find' }]),
  {
    name: 'logit_bias',
    kind: 'forwarded',
    accepted: [{ '50256': -100, '1': 0.5 }, { '0': 100 }, {}],
    defaults: [{}],
    refused: [
      ...wrong({ a: 1 }, { '1.5': 1 }, { '-1': 1 }, { '1': 101 }, { '1': '1' }, [], 'a', 7),
      [{ '1': TOO_LARGE }, 'logit_bias.1'],
    ],
  },
  switchFor('logprobs', false),
  outputLimit('max_completion_tokens'),
  outputLimit('max_tokens'),
  {
    name: 'metadata',
    kind: 'kept',
    accepted: [{}, pairs(17, 'CANARY'), { a: 1, b: [{ CANARY: null }] }, ['CANARY'], 'CANARY', 7, false],
    refused: [],
  },
  {
    name: 'modalities',
    kind: 'neutral',
    accepted: [['text']],
    defaults: [['text']],
    refused: wrong(['audio'], ['text', 'audio'], [], 'text'),
  },
  refusedByName('moderation', { model: 'm' }),
  {
    name: 'n',
    kind: 'forwarded',
    accepted: [1, 2, 128],
    defaults: [1],
    refused: wrong(0, -1, 129, 1.5, UNSAFE, TOO_LARGE, '1', true),
  },
  switchFor('parallel_tool_calls', true, { beside: { tools } }),
  refusedByName('prediction', { type: 'content', content: 'a' }),
  between('presence_penalty', -2, 2, 0),
  ownText('prompt_cache_key'),
  {
    name: 'prompt_cache_options',
    kind: 'neutral',
    accepted: [{}, { mode: 'implicit' }, { ttl: '30m' }, { mode: 'implicit', ttl: '30m' }],
    defaults: [{}, { mode: 'implicit' }, { ttl: '30m' }],
    refused: wrong({ mode: 'explicit' }, { ttl: '24h' }, { other: 1 }, 'implicit', []),
  },
  {
    name: 'prompt_cache_retention',
    kind: 'neutral',
    accepted: ['in_memory'],
    defaults: ['in_memory'],
    refused: wrong('24h', '', 1, {}),
  },
  {
    name: 'reasoning_effort',
    kind: 'forwarded',
    accepted: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    defaults: ['medium'],
    refused: wrong('', 'High', 'extreme', 1, true, {}),
  },
  {
    name: 'response_format',
    kind: 'forwarded',
    accepted: [
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'answer', strict: true, description: 'd', schema: SCHEMA } },
      { type: 'json_schema', json_schema: { name: 'answer', strict: null } },
    ],
    defaults: [{ type: 'text' }],
    refused: [
      ...wrong('text', [], 7),
      [{}, 'response_format.type'],
      [{ type: 'xml' }, 'response_format.type'],
      [{ type: 'json_schema' }, 'response_format.json_schema'],
      [{ type: 'json_schema', json_schema: { schema: {} } }, 'response_format.json_schema.name'],
      [{ type: 'json_schema', json_schema: { name: '' } }, 'response_format.json_schema.name'],
      [{ type: 'json_schema', json_schema: { name: 'a', schema: 'b' } }, 'response_format.json_schema.schema'],
      [{ type: 'json_schema', json_schema: { name: 'a', strict: 1 } }, 'response_format.json_schema.strict'],
    ],
  },
  ownText('safety_identifier'),
  {
    name: 'seed',
    kind: 'forwarded',
    accepted: [0, -42, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    refused: wrong(0.5, UNSAFE, 2 ** 53, TOO_LARGE, '1', true),
  },
  {
    name: 'service_tier',
    kind: 'neutral',
    accepted: ['auto', 'default'],
    defaults: ['auto', 'default'],
    refused: wrong('flex', 'scale', 'priority', 'fast', '', 1),
  },
  {
    name: 'stop',
    kind: 'forwarded',
    accepted: ['', 'END', ['a'], ['a', '\n', '\u0000', 'Größe \u{1F600}']],
    refused: wrong(['a', 'b', 'c', 'd', 'e'], [1], [null], 7, {}),
  },
  { name: 'store', kind: 'neutral', accepted: [false], defaults: [false], refused: wrong(true, 'false', 0) },
  switchFor('stream', false, { kind: 'decided' }),
  {
    name: 'stream_options',
    kind: 'decided',
    accepted: [{}, { include_usage: true }, { include_usage: null, include_obfuscation: false }],
    refused: [
      ...wrong([], true, 'a'),
      [{ include_usage: 1 }, 'stream_options.include_usage'],
      [{ include: true }, 'stream_options.include'],
    ],
    beside: { stream: true },
  },
  between('temperature', 0, 2, 1),
  {
    name: 'tool_choice',
    kind: 'forwarded',
    accepted: ['none', 'auto', 'required', choice('find'), allowed('auto', [choice('find')]), allowed('required', [])],
    defaults: ['auto'],
    refused: [
      ...wrong('any', {}, [], 1, { type: 'custom', custom: { name: 'a' } }, choice('lose'), choice('toString')),
      ...wrong(allowed('auto', [choice('lose')])),
      [{ type: 'function' }, 'tool_choice.function'],
      [choice(''), 'tool_choice.function.name'],
      [{ type: 'allowed_tools' }, 'tool_choice.allowed_tools'],
      [allowed('all', []), 'tool_choice.allowed_tools.mode'],
      [allowed('auto', {}), 'tool_choice.allowed_tools.tools'],
      [allowed('auto', [{ type: 'custom' }]), 'tool_choice.allowed_tools.tools[0]'],
      [allowed('auto', [{ type: 'function' }]), 'tool_choice.allowed_tools.tools[0].function'],
    ],
    beside: { tools },
  },
  {
    name: 'tools',
    kind: 'forwarded',
    accepted: [tools, [FIND]],
    refused: [
      ...wrong({}, 'find'),
      [['find'], 'tools[0]'],
      [[{}], 'tools[0].type'],
      [[FIND, { type: 'custom', custom: { name: 'a' } }], 'tools[1].type'],
      [[{ type: 'web_search' }], 'tools[0].type'],
      [[{ type: 'function', name: 'find', parameters: SCHEMA }], 'tools[0].function'],
      [[{ type: 'function', function: { parameters: SCHEMA } }], 'tools[0].function.name'],
      [[{ type: 'function', function: { name: 'a', parameters: [] } }], 'tools[0].function.parameters'],
      [[{ type: 'function', function: { name: 'a', strict: 'yes' } }], 'tools[0].function.strict'],
    ],
  },
  {
    name: 'top_logprobs',
    kind: 'forwarded',
    accepted: [0, 1, 20],
    defaults: [0],
    refused: wrong(-1, 21, 0.5, TOO_LARGE, '1', true),
    beside: { logprobs: true },
  },
  between('top_p', 0, 1, 1),
  ownText('user'),
  {
    name: 'verbosity',
    kind: 'forwarded',
    accepted: ['low', 'medium', 'high'],
    defaults: ['medium'],
    refused: wrong('', 'loud', 1, {}),
  },
  refusedByName('web_search_options', { search_context_size: 'low' }),
];

/** Parameter names of other interfaces and gateways, each with a word of the advice in its refusal. */
export const FOREIGN_PARAMETERS: readonly (readonly [name: string, value: unknown, advice: RegExp])[] = [
  ['provider', { order: ['a'] }, /`model`/],
  ['models', ['a', 'b'], /`model`/],
  ['route', 'fallback', /`model`/],
  ['plugins', [{ id: 'web' }], /`messages`/],
  ['transforms', ['middle-out'], /`messages`/],
  ['reasoning', { effort: 'high' }, /`reasoning_effort`/],
  ['top_k', 40, /`top_p`/],
  ['min_p', 0.1, /`top_p`/],
  ['top_a', 0.1, /`top_p`/],
  ['repetition_penalty', 1.1, /`frequency_penalty`/],
  ['usage', { include: true }, /include_usage/],
  ['best_of', 3, /Use `n`/],
  ['use_beam_search', true, /no price here/],
  ['extra_body', { top_k: 1 }, /on their own/],
  ['cache_control', { type: 'ephemeral' }, /`prompt_cache_key`/],
  ['session_id', 'a', /`prompt_cache_key`/],
  ['input', 'Hello', /takes `messages`: choose the chat-completions interface/],
  ['prompt', 'Hello', /takes `messages`/],
  ['contents', [{ parts: [{ text: 'Hello' }] }], /takes `messages`/],
  ['instructions', 'Be brief.', /`messages`, with the role "system"/],
  ['system', 'Be brief.', /`messages`, with the role "system"/],
  ['max_output_tokens', 5, /`max_completion_tokens`/],
  ['stop_sequences', ['a'], /`stop`/],
  ['text', { format: { type: 'text' } }, /`response_format`/],
  ['previous_response_id', 'resp_1', /`messages`/],
  ['conversation', 'conv_1', /`messages`/],
];
