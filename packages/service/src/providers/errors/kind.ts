import type { ErrorFacts } from '#providers/errors/facts.ts';
import type { UpstreamErrorKind } from '#providers/port/provider.ts';

export type ErrorKind = Extract<
  UpstreamErrorKind,
  'throttled' | 'too-long' | 'rejected' | 'unauthorized' | 'refused' | 'timeout' | 'outage'
>;

/** Codes that name one kind of failure with any status (lower case). */
const KIND_OF_CODE: ReadonlyMap<string, ErrorKind> = new Map([
  ...listed('too-long', [
    'context_length_exceeded', // OpenAI, Azure, Groq, Cerebras, llama-cpp-python
    'exceed_context_size_error', // llama.cpp
    'context_window_exceeded',
    'string_above_max_length', // OpenAI: one text is longer than any model takes
    'request_too_large', // Anthropic, Groq
    'max_tokens_exceeded',
  ]),
  ...listed('unauthorized', [
    'invalid_api_key',
    'incorrect_api_key',
    'api_key_invalid', // Google, with status 400
    'authentication_error',
    'permission_error',
    'permission_denied',
    'unauthenticated',
    'unauthorized', // Mistral
    'account_deactivated',
    'billing_not_active', // The next four come with a 429 or a 400, although no retry can help.
    'billing_hard_limit_reached',
    'billing_error', // Anthropic
    'insufficient_quota',
    'insufficient_balance',
    'model_not_found', // The model is not there for our account. The catalogue names it, not the caller.
    'model_decommissioned',
    'deploymentnotfound', // Azure
    'unsupported_country_region_territory',
    'base_resp 1004', // MiniMax, with status 200: a wrong key, no money, an invalid key
    'base_resp 1008',
    'base_resp 2049',
  ]),
  ...listed('throttled', [
    'rate_limit_exceeded',
    'rate_limit_error',
    'rate_limited',
    'too_many_requests',
    'tokens_limit_reached',
    'resource_exhausted', // Google
    'overloaded_error', // Anthropic
    'overloaded', // Text Generation Inference
    'server_overloaded',
    'slow_down',
    'engine_overloaded',
    'capacity_exceeded',
    '429',
    '529',
    'base_resp 1002', // MiniMax: calls a minute, connections at once, a rate that grows too fast, the allowance of a plan
    'base_resp 1041',
    'base_resp 2045',
    'base_resp 2056',
  ]),
  ...listed('timeout', ['timeout_error', 'base_resp 1001']), // Anthropic, MiniMax
]);

function listed(kind: ErrorKind, codes: readonly string[]): readonly (readonly [string, ErrorKind])[] {
  return codes.map((code) => [code, kind]);
}

/**
 * Servers that give a prompt that is too long no code of its own: vLLM, SGLang, Ollama, DeepSeek, OpenRouter, Fireworks, Mistral,
 * Text Generation Inference, xAI, Google, and llama.cpp with status 500.
 */
const TOO_LONG = [
  /maximum (?:context|prompt|input|sequence) length/,
  /context (?:length|size|window)(?: has been)? exceed(?:ed|s)/,
  /exceeds? (?:the )?(?:available |model'?s? |maximum )*(?:context|allowed (?:input )?(?:length|tokens))/,
  /longer than the model'?s? (?:context|maximum)/,
  /prompt is too long/,
  /input is too long/,
  /input \(\d+ tokens\) is too large to process/, // llama.cpp with status 500, for a text of which a vector is asked
  /too large for model with \d+ maximum context/,
  /input token count .{0,40}exceeds the maximum/,
  /`inputs` tokens \+ `max_new_tokens` must be <=/,
  /reduce the length of the (?:messages|prompt|input)/,
];

/** Anthropic has no code for an account without money. */
const NO_MONEY = /credit balance is too low/;

/** What llama.cpp and Ollama answer with status 500 to a request for something that the model cannot do. */
const INABILITIES = [
  /(?:image|audio|video|vision|tool|multimodal|file)s?(?: \w+)? (?:is|are) not supported/,
  /does not support (?:image|audio|video|vision|tool|multimodal|thinking)/,
  /missing data required for (?:image|audio) input/,
  /failed to load image/,
];

const STATUSES: ReadonlyMap<number, ErrorKind> = new Map([
  // These three concern the request itself (CC-15).
  [400, 'rejected'],
  [404, 'rejected'],
  [422, 'rejected'],
  // Our key, our account or its money.
  [401, 'unauthorized'],
  [402, 'unauthorized'],
  [403, 'unauthorized'],
  [408, 'timeout'],
  [413, 'too-long'],
  [429, 'throttled'],
  [498, 'throttled'], // Groq: no capacity is free
  [504, 'timeout'],
  [524, 'timeout'], // A proxy waited in vain for the server behind it.
  [529, 'throttled'], // Several vendors: overloaded
]);

/**
 * The kind of failure that an answer means. Codes count before the status, because some vendors send an empty account as a 429, and a
 * wrong key as a 400.
 */
export function kindOf(status: number, { codes, message }: ErrorFacts): ErrorKind {
  for (const code of codes) {
    const kind = KIND_OF_CODE.get(code);
    // Groq's 413 has the code of a rate limit: the request alone is more than a minute allows, so no wait helps.
    if (kind !== undefined && !(kind === 'throttled' && status === 413)) return kind;
  }
  if (status === 400 && NO_MONEY.test(message)) return 'unauthorized';
  if (status !== 429 && TOO_LONG.some((pattern) => pattern.test(message))) return 'too-long';
  if (status >= 500 && INABILITIES.some((pattern) => pattern.test(message))) return 'rejected';
  return STATUSES.get(status) ?? (status >= 500 ? 'outage' : 'refused');
}

/** The status in an error that came with status 200, or in a stream, if it holds one: some vendors write it as its code. */
export function statusIn({ codes }: ErrorFacts): number | undefined {
  const status = codes.find((code) => /^[45]\d\d$/.test(code));
  return status === undefined ? undefined : Number(status);
}

const REQUEST_AT_FAULT = new Set([
  'badrequesterror',
  'content_filter',
  'not_found_error', // Anthropic
  'base_resp 1026', // MiniMax: sensitive input or output, too many tokens, unreadable characters, wrong parameters
  'base_resp 1027',
  'base_resp 1039',
  'base_resp 1042',
  'base_resp 2013',
]);

/** Words that begin the codes of errors of a request: `invalid_request_error`, Mistral's `invalid_request_message_order`. */
const INVALID = /^(?:invalid_(?:request|argument|parameter|value|prompt)|unsupported_(?:value|parameter))/;

/** How servers say in words alone that they throttle. */
const THROTTLED = /\brate limit|too many requests|\boverloaded\b/;

/** The kind of an error without a status. One that does not blame the request is the provider's own failure. */
export function kindOfFrame(facts: ErrorFacts): ErrorKind {
  const status = statusIn(facts);
  if (status !== undefined) return kindOf(status, facts);
  const isRequest = facts.codes.some((code) => REQUEST_AT_FAULT.has(code) || INVALID.test(code));
  const kind = kindOf(isRequest ? 400 : 500, facts);
  return kind === 'outage' && THROTTLED.test(facts.message) ? 'throttled' : kind;
}

/** The status with which an error of a kind usually comes. */
export const USUAL_STATUS: Readonly<Record<ErrorKind, number>> = {
  throttled: 429,
  'too-long': 413,
  rejected: 400,
  unauthorized: 401,
  refused: 409,
  timeout: 408,
  outage: 500,
};
