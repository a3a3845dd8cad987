import type { UpstreamScript, UpstreamStep } from '../../../support/scripted-upstream.ts';
import { answerTo, event, failureAsked, type Fields, streamParts, wholeAnswer } from './chat-wire.ts';
import { type Billed, CANARY, saying, type Vendor, type VendorAnswer, type VendorRequest, WEATHER } from './vendor.ts';

/** Mistral's API, as docs.mistral.ai and its client document it. It refuses what it does not know. */

const KEY = 'a-mistral-key';
const BILLED: Billed = { input: 113, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 67 };
const USAGE = { prompt_tokens: 113, total_tokens: 180, completion_tokens: 67 };
const THOUGHT = 'The user wants a fish.';

export const mistral: Vendor = {
  kind: 'mistral',
  providerAt: (origin) => ({ kind: 'mistral', baseUrl: `${origin}/v1`, apiKeyEnv: 'MISTRAL_TEST_API_KEY' }),
  environment: { MISTRAL_TEST_API_KEY: KEY },
  models: { plain: 'mistral-large-latest', thinking: 'magistral-medium-latest' },
  failures: [
    ['rate_limited', 'throttled'],
    ['invalid', 'upstream_rejected'],
    ['validation', 'upstream_rejected'],
    ['too_long', 'context_length_exceeded'],
    ['unauthorized', 'upstream_unauthorized'],
    ['unavailable', 'upstream_outage'],
  ],
  lateFailures: [
    ['finish', 'upstream_broken'],
    ['cut', 'upstream_broken'],
  ],
  refused: [
    [{ logprobs: true }, 'logprobs'],
    [{ logit_bias: { 7: 1 } }, 'logit_bias'],
    [{ verbosity: 'low' }, 'verbosity'],
    [{ seed: -1 }, 'seed'],
    [{ temperature: 1.9 }, 'temperature'],
    [{ reasoning_effort: 'low' }, 'reasoning_effort'],
    [saying('Hello', { name: 'anna' }), 'messages[0].name'],
    [saying('Hello', { weight: 1 }), 'messages[0].weight'],
    [{ tools: [{ ...WEATHER, custom: 1 }] }, 'tools[0].custom'],
  ],
  hasWholeArguments: true,
  answer,
};

function answer(request: VendorRequest): VendorAnswer {
  const fault = faultIn(request);
  if (fault !== undefined) return { script: failed(fault[0], fault[1]) };
  const body = request.body as Fields;
  const asked = failureAsked(body);
  if (asked !== undefined && !asked.isLate) return { script: failed(asked.word, CANARY) };
  const model = String(body['model']);
  const said = answerTo(body, 'Mistral', ['aB3dE6gH9', 'zY8xW7vU6']);
  const isThinking = model.startsWith('magistral');
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: THOUGHT }], closed: true },
    { type: 'text', text: said.text },
  ];
  if (body['stream'] !== true) {
    const whole = JSON.parse(wholeAnswer({ model, said, usage: USAGE })) as { choices: { message: Fields }[] };
    for (const choice of whole.choices) if (isThinking) choice.message = { ...choice.message, content: parts };
    return { script: { headers: JSON_HEADERS, body: JSON.stringify(whole) }, billed: BILLED };
  }
  const { chunk, delta, reason, texts, calls } = streamParts({ model, said });
  const thought = ['The user ', 'wants a fish.'].map((text) => {
    return delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
  });
  const steps: UpstreamStep[] = [...(isThinking ? thought : []), ...texts].map((one) => chunk([one]));
  const headers = { 'content-type': 'text/event-stream' };
  if (asked?.word === 'cut') return { script: { headers, body: steps } };
  for (const [index, { id, city }] of calls.entries())
    steps.push(chunk([delta({ tool_calls: [calledOf(id, city, index)] })]));
  // The last chunk has the reason and the usage.
  const end = delta({ content: '' }, asked === undefined ? reason : 'error');
  steps.push(chunk([end], { usage: USAGE }), event('[DONE]'));
  return { script: { headers, body: steps }, ...(asked === undefined && { billed: BILLED }) };
}

function calledOf(id: string, city: string, index: number): Fields {
  return { id, function: { name: 'weather', arguments: JSON.stringify({ city }) }, index };
}

const JSON_HEADERS = { 'content-type': 'application/json' };

const MEMBERS = new Set(
  `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty
  frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt`.split(/\s+/),
);
const MESSAGE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
};

/** What the API refuses. */
function faultIn({ method, path, headers, body }: VendorRequest): readonly [word: string, text: string] | undefined {
  if (method !== 'POST' || path !== '/v1/chat/completions') return ['not_found', path];
  if (headers['authorization'] !== `Bearer ${KEY}`) return ['unauthorized', 'key'];
  const fields = body as Fields;
  const unknown = Object.keys(fields).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return ['validation', `extra_forbidden: ${unknown}`];
  if (typeof fields['max_tokens'] !== 'number') return ['validation', 'max_tokens'];
  const choice = fields['tool_choice'] ?? 'auto';
  if (typeof choice === 'string' && !['auto', 'none', 'any'].includes(choice)) return ['validation', 'tool_choice'];
  for (const { function: described } of (fields['tools'] ?? []) as readonly Fields[]) {
    if ((described as Fields)['parameters'] === undefined) return ['validation', 'parameters'];
  }
  for (const message of fields['messages'] as readonly Fields[]) {
    const known = MESSAGE_MEMBERS[String(message['role'])];
    if (known === undefined || Object.keys(message).some((name) => !known.includes(name)))
      return ['validation', 'message'];
    const calls = (message['tool_calls'] ?? []) as readonly Fields[];
    const ids = [...calls.map(({ id }) => id), ...('tool_call_id' in message ? [message['tool_call_id']] : [])];
    if (ids.some((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id))))
      return ['invalid', 'Tool call id has to be 9 characters'];
  }
  return undefined;
}

const TOO_LONG =
  'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length';
const ERRORS: Readonly<Record<string, readonly [status: number, type: string, code: string]>> = {
  rate_limited: [429, 'rate_limited', '1300'],
  invalid: [400, 'invalid_request_message_order', '3230'],
  validation: [422, 'invalid_request_error', ''],
  too_long: [400, 'invalid_request_prompt', '3051'],
  unauthorized: [401, 'unauthorized', ''],
  unavailable: [503, 'unreachable_backend', '1100'],
};

function failed(word: string, text: string): UpstreamScript {
  const [status, type, code] = ERRORS[word] ?? [404, 'not_found', ''];
  const message = word === 'too_long' ? TOO_LONG : text;
  const detail = { detail: [{ type: 'extra_forbidden', loc: ['body'], msg: message }] };
  const error = { object: 'error', message: word === 'validation' ? detail : message, type, param: null, code };
  return { status, headers: JSON_HEADERS, body: JSON.stringify(error) };
}

export { THOUGHT as MISTRAL_THOUGHT };
