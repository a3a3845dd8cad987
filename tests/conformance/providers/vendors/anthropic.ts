import { createHmac } from 'node:crypto';
import type { UpstreamScript } from '../../../support/scripted-upstream.ts';
import { streamed } from './anthropic-events.ts';
import {
  ALLOWED,
  askedReason,
  type Billed,
  CANARY,
  OTHER,
  PIXEL,
  REFUSED_BY_ALL,
  saying,
  SCHEMA_ANSWER,
  type Vendor,
  type VendorAnswer,
  type VendorRequest,
  WEATHER,
} from './vendor.ts';

/** Anthropic's Messages format, as platform.claude.com documents it. */

export const anthropic: Vendor = {
  kind: 'anthropic',
  providerAt: (origin) => ({ kind: 'anthropic', baseUrl: `${origin}/v1`, apiKeyEnv: 'ANTHROPIC_TEST_API_KEY' }),
  environment: { ANTHROPIC_TEST_API_KEY: 'sk-ant-test' },
  models: { plain: 'claude-sonnet-4-5-20250929', effort: 'claude-opus-4-6', newest: 'claude-opus-5-5' },
  failures: [
    ['rate_limit_error', 'throttled'],
    ['overloaded_error', 'throttled'],
    ['invalid_request_error', 'upstream_rejected'],
    ['not_found_error', 'upstream_rejected'],
    ['too_long', 'context_length_exceeded'],
    ['request_too_large', 'context_length_exceeded'],
    ['authentication_error', 'upstream_unauthorized'],
    ['permission_error', 'upstream_unauthorized'],
    ['billing_error', 'upstream_unauthorized'],
    ['api_error', 'upstream_outage'],
  ],
  lateFailures: [
    ['overloaded_error', 'throttled'],
    ['api_error', 'upstream_outage'],
    ['cut', 'upstream_broken'],
  ],
  sent: [
    [{ temperature: 0.25 }, { temperature: 0.25 }],
    [{ top_p: 0.5 }, { top_p: 0.5 }],
    [{ stop: 'END' }, { stop_sequences: ['END'] }],
    [{ stop: ['A', 'B'] }, { stop_sequences: ['A', 'B'] }],
    [{ max_tokens: 77 }, { max_tokens: 77 }],
    [{ tools: [WEATHER], tool_choice: 'none' }, { tool_choice: { type: 'none' } }],
    [{ tools: [WEATHER], tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
    [
      { tools: [WEATHER], parallel_tool_calls: false },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      { tools: [WEATHER, OTHER], tool_choice: ALLOWED },
      { tools: [{ name: 'weather' }], tool_choice: { type: 'any' } },
    ],
    [
      { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'weather' } } },
      { tool_choice: { type: 'tool', name: 'weather' } },
    ],
    [{ reasoning_effort: 'high' }, { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 6_400 } }],
    [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    [
      { model: 'anthropic.effort', reasoning_effort: 'minimal' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ],
    [{ tools: [{ type: 'function', function: { ...WEATHER.function, strict: true } }] }, { tools: [{ strict: true }] }],
    [
      { tools: [{ ...WEATHER, cache_control: { type: 'ephemeral' } }] },
      { tools: [{ cache_control: { type: 'ephemeral' } }] },
    ],
  ],
  refused: [
    ...REFUSED_BY_ALL,
    [{ seed: 1 }, 'seed'],
    [{ frequency_penalty: 1 }, 'frequency_penalty'],
    [{ presence_penalty: -1 }, 'presence_penalty'],
    [{ verbosity: 'low' }, 'verbosity'],
    [{ temperature: 1.5 }, 'temperature'],
    [{ temperature: 0.5, top_p: 0.5 }, 'top_p'],
    [{ temperature: 0.5, reasoning_effort: 'low' }, 'temperature'],
    [{ model: 'anthropic.newest', temperature: 0.5 }, 'temperature'],
    [{ model: 'anthropic.newest', reasoning_effort: 'none' }, 'reasoning_effort'],
    [{ model: 'anthropic.newest', tools: [WEATHER], tool_choice: 'required' }, 'tool_choice'],
    [{ reasoning_effort: 'low', tools: [WEATHER], tool_choice: 'required' }, 'reasoning_effort'],
    [{ stop: [' '] }, 'stop'],
    [{ response_format: { type: 'json_object' } }, 'response_format.type'],
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', additionalProperties: true } },
        },
      },
      'response_format.json_schema.schema.additionalProperties',
    ],
    [
      {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'system', content: 'Be brief.' },
        ],
      },
      'messages[1].role',
    ],
    [saying('Hello', { cache_control: { type: 'lasting' } }), 'messages[0].cache_control'],
  ],
  answer,
};

type Fields = Readonly<Record<string, unknown>>;

const HEADERS = { 'content-type': 'application/json', 'request-id': 'req_1' };

const ERRORS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
};

function answer(request: VendorRequest): VendorAnswer {
  const fault = faultIn(request);
  if (fault !== undefined) return { script: failed(...fault) };
  const body = request.body as Fields;
  const asked = /^fail (\w+)(?: (late))?$/.exec(textOf(lastUser(body)));
  if (asked !== null && asked[2] === undefined) {
    const type = asked[1] as string;
    const message = type === 'too_long' ? 'prompt is too long: 200001 tokens > 200000 maximum' : CANARY;
    return { script: failed(type === 'too_long' ? 'invalid_request_error' : type, message) };
  }
  const content = contentFor(body);
  const billed = bill(body);
  const usage = usageOf(billed);
  const usual = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const reason = askedReason(textOf(lastUser(body)), usual);
  if (body['stream'] !== true) {
    const message = { ...head(body), content, stop_reason: reason, stop_sequence: null, usage };
    return { script: { headers: HEADERS, body: JSON.stringify(message) }, billed };
  }
  const steps = streamed(head(body), content, usage, reason, asked?.[1]);
  return { script: { headers: { 'content-type': 'text/event-stream' }, body: steps }, ...(asked ? {} : { billed }) };
}

function failed(type: string, message: string): UpstreamScript {
  const headers = ERRORS[type] === 429 ? { ...HEADERS, 'retry-after': '7' } : HEADERS;
  const error = { type: 'error', error: { type, message }, request_id: 'req_1' };
  return { status: ERRORS[type] ?? 500, headers, body: JSON.stringify(error) };
}

function head({ model }: Fields): Fields {
  return { id: 'msg_01A', type: 'message', role: 'assistant', model };
}

/** What the API refuses, with the error that it gives. */
function faultIn({ method, path, headers, body }: VendorRequest): [type: string, message: string] | undefined {
  if (method !== 'POST' || path !== '/v1/messages') return ['not_found_error', path];
  if (headers['x-api-key'] !== 'sk-ant-test') return ['authentication_error', 'invalid x-api-key'];
  if (headers['anthropic-version'] !== '2023-06-01') return bad('anthropic-version: header is required');
  if (typeof body !== 'object' || body === null) return bad('not JSON');
  const fields = body as Fields;
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return bad(`${unknown}: Extra inputs are not permitted`);
  const limit = fields['max_tokens'];
  if (typeof limit !== 'number' || limit < 1) return bad('max_tokens: Field required');
  if (fields['temperature'] !== undefined && fields['top_p'] !== undefined) return bad('temperature and top_p');
  const thinking = fields['thinking'] as Fields | undefined;
  const budget = thinking?.['budget_tokens'];
  if (thinking?.['type'] === 'enabled' && (typeof budget !== 'number' || budget < 1024 || budget >= limit)) {
    return bad('thinking.budget_tokens');
  }
  const format = (fields['output_config'] as Fields | undefined)?.['format'] as Fields | undefined;
  if (format !== undefined && (format['schema'] as Fields)['additionalProperties'] !== false) return bad('schema');
  return messageFault(fields);
}

const KNOWN = new Set(
  `model max_tokens messages system temperature top_p top_k stop_sequences stream tools tool_choice thinking output_config
  metadata cache_control service_tier`.split(/\s+/),
);

function bad(message: string): [type: string, message: string] {
  return ['invalid_request_error', message];
}

function messageFault({ messages, thinking }: Fields): [type: string, message: string] | undefined {
  let calls: unknown[] = [];
  for (const [place, message] of (messages as Fields[]).entries()) {
    if (message['role'] !== (place % 2 === 0 ? 'user' : 'assistant')) return bad('roles must alternate');
    const blocks = blocksOf(message);
    for (const block of blocks) {
      if (block['type'] === 'text' && block['text'] === '') return bad('text content blocks must be non-empty');
      if (block['type'] === 'thinking' && block['signature'] !== sealOf(String(block['thinking']))) {
        return bad('Invalid `signature` in `thinking` block');
      }
      const source = block['source'] as Fields | undefined;
      if (block['type'] === 'image' && source?.['type'] !== 'base64') return bad('image.source');
    }
    const used = blocks.filter(({ type }) => type === 'tool_use');
    const isThinking = thinking !== undefined && (thinking as Fields)['type'] !== 'disabled';
    if (isThinking && used.length > 0 && blocks[0]?.['type'] !== 'thinking') {
      return bad('Expected `thinking`, but found `tool_use`');
    }
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block['tool_use_id']);
    if (calls.some((id) => !results.includes(id))) return bad('`tool_use` ids without `tool_result` blocks');
    calls = used.map(({ id }) => id);
  }
  return undefined;
}

/** The seal of a thought: only the vendor can make it. */
function sealOf(thought: string): string {
  return createHmac('sha256', 'vendor').update(thought).digest('base64');
}

const THOUGHT = 'The user wants the weather of two cities, so I call the tool twice.';

/** What the model says. It depends on the request alone. */
function contentFor(body: Fields): readonly Fields[] {
  const thinking = body['thinking'] as Fields | undefined;
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled';
  const thought = isThinking ? [{ type: 'thinking', thinking: THOUGHT, signature: sealOf(THOUGHT) }] : [];
  const format = (body['output_config'] as Fields | undefined)?.['format'];
  if (format !== undefined) return [...thought, { type: 'text', text: SCHEMA_ANSWER }];
  const last = lastUser(body);
  const results = last.filter(({ type }) => type === 'tool_result');
  if (results.length > 0) return [...thought, { type: 'text', text: `Results: ${results.map(resultText).join(', ')}` }];
  const images = last.filter(({ type, source }) => type === 'image' && (source as Fields)['data'] === PIXEL);
  if (images.length > 0) return [{ type: 'text', text: `I see ${images.length} image` }];
  if (Array.isArray(body['tools']) && (body['tool_choice'] as Fields | undefined)?.['type'] !== 'none') {
    return [
      ...thought,
      { type: 'text', text: 'Let me look. ' },
      { type: 'tool_use', id: 'toolu_01', name: 'weather', input: { city: 'Bern' } },
      { type: 'tool_use', id: 'toolu_02', name: 'weather', input: { city: 'Zürich' } },
    ];
  }
  return [...thought, { type: 'text', text: 'Hello from ' }, { type: 'text', text: 'Claude 🐟' }];
}

function resultText({ content }: Fields): string {
  return typeof content === 'string' ? content : textOf(content as Fields[]);
}

function lastUser({ messages }: Fields): readonly Fields[] {
  return blocksOf((messages as Fields[]).at(-1) ?? {});
}

function blocksOf({ content = [] }: Fields): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Fields[]);
}

function textOf(blocks: readonly Fields[]): string {
  return blocks.map(({ text = '' }) => text as string).join('');
}

/** Makes the bill. Cache marks are billed by what they say; everything else has fixed figures. */
function bill(body: Fields): Billed {
  const text = JSON.stringify(body);
  const isLong = text.includes('"ttl":"1h"');
  const isMarked = text.includes('"cache_control"');
  return {
    input: 101,
    cacheRead: isMarked ? 2_003 : 0,
    cacheWrite: isMarked ? 1_007 : 0,
    cacheWriteLong: isLong ? 509 : 0,
    output: 57,
  };
}

function usageOf({ input, cacheRead, cacheWrite, cacheWriteLong, output }: Billed): Fields {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite + cacheWriteLong,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWriteLong },
    output_tokens: output,
    service_tier: 'standard',
  };
}
