import { createHmac } from 'node:crypto';
import type { UpstreamScript } from '../../../support/scripted-upstream.ts';
import { type AwsAccount, signatureFault } from './aws-signature.ts';
import { streamed } from './bedrock-frames.ts';
import { invoked } from './bedrock-invoke.ts';
import {
  ALLOWED,
  askedReason,
  type Billed,
  CANARY,
  OTHER,
  PIXEL,
  REFUSED_BY_ALL,
  SCHEMA_ANSWER,
  type Vendor,
  type VendorAnswer,
  type VendorRequest,
  WEATHER,
} from './vendor.ts';

/** Amazon Bedrock's Converse, ConverseStream and InvokeModel, as docs.aws.amazon.com documents them. */

export const BEDROCK_ACCOUNT: AwsAccount = {
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'secret/of+the=account',
  sessionToken: 'session+token/1==',
  region: 'eu-central-1',
};

export const bedrock: Vendor = {
  kind: 'bedrock',
  providerAt: (origin) => ({ kind: 'bedrock', region: BEDROCK_ACCOUNT.region, endpoint: origin }),
  environment: {},
  models: {
    plain: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    nova: 'eu.amazon.nova-lite-v1:0',
    llama: 'us.meta.llama3-3-70b-instruct-v1:0',
    mistral: 'us.mistral.pixtral-large-2502-v1:0',
  },
  failures: [
    ['ThrottlingException', 'throttled'],
    ['ValidationException', 'upstream_rejected'],
    ['ResourceNotFoundException', 'upstream_rejected'],
    ['too_long', 'context_length_exceeded'],
    ['AccessDeniedException', 'upstream_unauthorized'],
    ['InvalidSignatureException', 'upstream_unauthorized'],
    ['ModelTimeoutException', 'upstream_timeout'],
    ['ModelErrorException', 'upstream_outage'],
    ['InternalServerException', 'upstream_outage'],
    ['ServiceUnavailableException', 'upstream_outage'],
  ],
  lateFailures: [
    ['throttlingException', 'throttled'],
    ['modelStreamErrorException', 'upstream_outage'],
    ['internalServerException', 'upstream_outage'],
    ['cut', 'upstream_broken'],
  ],
  sent: [
    [{ temperature: 0.25 }, { inferenceConfig: { temperature: 0.25 } }],
    [{ top_p: 0.5 }, { inferenceConfig: { topP: 0.5 } }],
    [{ model: 'bedrock.nova', top_p: 0.5, temperature: 0.5 }, { inferenceConfig: { topP: 0.5, temperature: 0.5 } }],
    [{ stop: ['A', 'B'] }, { inferenceConfig: { stopSequences: ['A', 'B'] } }],
    [{ max_tokens: 77 }, { inferenceConfig: { maxTokens: 77 } }],
    [{ tools: [WEATHER], tool_choice: 'required' }, { toolConfig: { toolChoice: { any: {} } } }],
    [
      { tools: [WEATHER, OTHER], tool_choice: ALLOWED },
      { toolConfig: { tools: [{ toolSpec: { name: 'weather' } }], toolChoice: { any: {} } } },
    ],
    [
      { tools: [WEATHER], parallel_tool_calls: false },
      { additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
    ],
    [
      { reasoning_effort: 'high' },
      {
        inferenceConfig: { maxTokens: 8_000 },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 6_400 } },
      },
    ],
    [{ reasoning_effort: 'none' }, { additionalModelRequestFields: { thinking: { type: 'disabled' } } }],
  ],
  refused: [
    ...REFUSED_BY_ALL,
    [{ seed: 1 }, 'seed'],
    [{ presence_penalty: 1 }, 'presence_penalty'],
    [{ temperature: 1.5 }, 'temperature'],
    [{ model: 'bedrock.nova', parallel_tool_calls: false }, 'parallel_tool_calls'],
    [{ model: 'bedrock.nova', reasoning_effort: 'low' }, 'reasoning_effort'],
    [{ messages: [{ role: 'tool', tool_call_id: 'a', content: 'b' }] }, 'messages[0]'],
    [{ tools: [{ ...WEATHER, cache_control: { type: 'ephemeral' } }] }, 'tools[0].cache_control'],
    [
      { tools: [{ type: 'function', function: { name: 'a', strict: true, parameters: { type: 'object' } } }] },
      'tools[0].function.strict',
    ],
    [
      {
        model: 'bedrock.nova',
        tools: [WEATHER],
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
      },
      'response_format',
    ],
  ],
  answer,
};

/** The usual chain reads the environment of the process. */
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: BEDROCK_ACCOUNT.accessKeyId,
  AWS_SECRET_ACCESS_KEY: BEDROCK_ACCOUNT.secretAccessKey,
  AWS_SESSION_TOKEN: BEDROCK_ACCOUNT.sessionToken,
});

type Fields = Readonly<Record<string, unknown>>;

const ERRORS: Readonly<Record<string, number>> = {
  ValidationException: 400,
  MissingAuthenticationTokenException: 403,
  UnrecognizedClientException: 403,
  IncompleteSignatureException: 403,
  InvalidSignatureException: 403,
  AccessDeniedException: 403,
  ResourceNotFoundException: 404,
  ModelTimeoutException: 408,
  ModelErrorException: 424,
  ThrottlingException: 429,
  InternalServerException: 500,
  ServiceUnavailableException: 503,
};

function answer(request: VendorRequest): VendorAnswer {
  const match = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream)$/.exec(request.path);
  if (match === null) return { script: failed('ResourceNotFoundException', request.path) };
  const wrong = signatureFault(request, BEDROCK_ACCOUNT);
  if (wrong !== undefined) return { script: failed(wrong, 'signature') };
  const body = request.body as Fields;
  const model = decodeURIComponent(match[1] ?? '');
  if (match[2]?.startsWith('invoke')) return invoked(request, { model, isStream: match[2] !== 'invoke', failed });
  const bad = faultIn(body, model);
  if (bad !== undefined) return { script: failed('ValidationException', bad) };
  const asked = /^fail (\w+)(?: (late))?$/.exec(textOf(lastUser(body)));
  if (asked !== null && asked[2] === undefined) {
    const isLong = asked[1] === 'too_long';
    const script = failed(isLong ? 'ValidationException' : String(asked[1]), isLong ? TOO_LONG : CANARY);
    return { script };
  }
  const content = contentFor(body, model);
  const billed = bill(body);
  const usual = content.some(({ toolUse }) => toolUse !== undefined) ? 'tool_use' : 'end_turn';
  const stopReason = askedReason(textOf(lastUser(body)), usual);
  if (match[2] === 'converse') {
    const output = { message: { role: 'assistant', content } };
    const whole = { output, stopReason, usage: usageOf(billed), metrics: { latencyMs: 5 } };
    return { script: { headers: HEADERS, body: JSON.stringify(whole) }, billed };
  }
  const headers = { ...HEADERS, 'content-type': 'application/vnd.amazon.eventstream' };
  const script = { headers, body: streamed(content, usageOf(billed), stopReason, asked?.[1]) };
  return asked === null ? { script, billed } : { script };
}

const TOO_LONG = 'Input is too long for requested model.';
const HEADERS = {
  'content-type': 'application/json',
  'x-amzn-requestid': 'b7d5c2de-1',
  date: 'Mon, 23 Nov 2026 00:00:00 GMT',
};

function failed(type: string, message: string): UpstreamScript {
  const namespace = 'http://internal.amazon.com/coral/com.amazon.bedrock/';
  const headers = { ...HEADERS, 'x-amzn-errortype': `${type}:${namespace}` };
  return { status: ERRORS[type] ?? 500, headers, body: JSON.stringify({ message }) };
}

const KNOWN = new Set(
  `messages system inferenceConfig toolConfig additionalModelRequestFields additionalModelResponseFieldPaths
  guardrailConfig promptVariables requestMetadata performanceConfig serviceTier outputConfig`.split(/\s+/),
);

/** What Bedrock refuses in a body. */
function faultIn(body: Fields, model: string): string | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `extraneous key [${unknown}] is not permitted`;
  const { maxTokens, temperature, topP } = (body['inferenceConfig'] ?? {}) as Fields;
  if (typeof maxTokens !== 'number' || maxTokens < 1) return 'inferenceConfig.maxTokens';
  if (model.includes('claude') && temperature !== undefined && topP !== undefined) return 'temperature and top_p';
  const thinking = ((body['additionalModelRequestFields'] ?? {}) as Fields)['thinking'] as Fields | undefined;
  if (thinking?.['type'] === 'enabled' && Number(thinking['budget_tokens']) >= maxTokens) return 'budget_tokens';
  const hasTools = body['toolConfig'] !== undefined;
  for (const [place, { role, content }] of (body['messages'] as Fields[]).entries()) {
    if (role !== (place % 2 === 0 ? 'user' : 'assistant')) return 'A conversation must alternate between roles.';
    const blocks = content as Fields[];
    const isOfTools = blocks.some(({ toolUse, toolResult }) => toolUse !== undefined || toolResult !== undefined);
    if (isOfTools && !hasTools) return 'The toolConfig field must be defined when using toolUse and toolResult';
    for (const { text, reasoningContent, toolUse } of blocks) {
      if (text === '') return 'The text field in the ContentBlock object is blank.';
      const { reasoningText } = (reasoningContent ?? {}) as Fields;
      const said = reasoningText as Fields | undefined;
      if (said !== undefined && said['signature'] !== sealOf(String(said['text']))) return 'Invalid signature';
      const { toolUseId } = (toolUse ?? {}) as Fields;
      if (model.includes('mistral') && toolUse !== undefined && !/^[a-zA-Z0-9]{9}$/.test(String(toolUseId)))
        return 'toolUseId';
    }
    if (
      thinking?.['type'] === 'enabled' &&
      blocks.some(({ toolUse }) => toolUse !== undefined) &&
      blocks[0]?.['reasoningContent'] === undefined
    ) {
      return 'Expected thinking, but found tool_use';
    }
  }
  return undefined;
}

function sealOf(thought: string): string {
  return createHmac('sha256', 'vendor').update(thought).digest('base64');
}

const THOUGHT = 'The user wants the weather of two cities, so I call the tool twice.';

function contentFor(body: Fields, model: string): readonly Fields[] {
  const additional = (body['additionalModelRequestFields'] ?? {}) as Fields;
  const isThinking = ((additional['thinking'] ?? {}) as Fields)['type'] === 'enabled';
  const thought = isThinking
    ? [{ reasoningContent: { reasoningText: { text: THOUGHT, signature: sealOf(THOUGHT) } } }]
    : [];
  const format = ((additional['output_config'] ?? {}) as Fields)['format'];
  if (format !== undefined) return [...thought, { text: SCHEMA_ANSWER }];
  const { tools = [], toolChoice } = (body['toolConfig'] ?? {}) as { tools?: Fields[]; toolChoice?: Fields };
  const forced = toolChoice?.['tool'] as Fields | undefined;
  if (forced !== undefined) {
    const { name } = forced;
    return [{ toolUse: { toolUseId: 'tooluse_forced', name, input: JSON.parse(SCHEMA_ANSWER) as unknown } }];
  }
  const last = lastUser(body);
  const results = last.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [toolResult as Fields]));
  if (results.length > 0) {
    const said = results.map(({ content }) => textOf(content as Fields[])).join(', ');
    return [...thought, { text: `Results: ${said}` }];
  }
  const images = last.filter(({ image }) => {
    const { format: type, source } = (image ?? {}) as Fields;
    return type === 'png' && (source as Fields)['bytes'] === PIXEL;
  });
  if (images.length > 0) return [{ text: `I see ${images.length} image` }];
  if (tools.length > 0) {
    return [
      ...thought,
      { text: 'Let me look. ' },
      { toolUse: { toolUseId: 'tooluse_1-a', name: 'weather', input: { city: 'Bern' } } },
      { toolUse: { toolUseId: 'tooluse_2-b', name: 'weather', input: { city: 'Zürich' } } },
    ];
  }
  return [...thought, { text: `Hello from ${model.split('.')[1]} 🐟` }];
}

function lastUser({ messages }: Fields): readonly Fields[] {
  return ((messages as Fields[]).at(-1)?.['content'] ?? []) as Fields[];
}

function textOf(blocks: readonly Fields[]): string {
  return blocks.map(({ text = '' }) => text as string).join('');
}

function bill(body: Fields): Billed {
  const text = JSON.stringify(body);
  const isMarked = text.includes('"cachePoint"');
  return {
    input: 103,
    cacheRead: isMarked ? 2_017 : 0,
    cacheWrite: isMarked ? 1_009 : 0,
    cacheWriteLong: text.includes('"ttl":"1h"') ? 521 : 0,
    output: 61,
  };
}

function usageOf({ input, cacheRead, cacheWrite, cacheWriteLong, output }: Billed): Fields {
  const written = cacheWrite + cacheWriteLong;
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output + cacheRead + written,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: written,
    cacheDetails: [
      { inputTokens: cacheWrite, ttl: '5m' },
      { inputTokens: cacheWriteLong, ttl: '1h' },
    ],
  };
}
