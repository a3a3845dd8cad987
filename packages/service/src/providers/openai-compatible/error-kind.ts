import type { ErrorFacts } from '#providers/openai-compatible/error-facts.ts';
import type { UpstreamErrorKind } from '#providers/provider.ts';

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
    'account_deactivated',
    'billing_not_active', // The next four come with a 429 or a 400, although no retry can help.
    'billing_hard_limit_reached',
    'insufficient_quota',
    'insufficient_balance',
    'model_not_found', // The model is not there for our account. The catalogue names it, not the caller.
    'model_decommissioned',
    'deploymentnotfound', // Azure
    'unsupported_country_region_territory',
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
  ]),
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
  /context (?:length|size|window)(?: has been)? exceeded/,
  /exceeds? (?:the )?(?:available |model'?s? |maximum )*(?:context|allowed (?:input )?(?:length|tokens))/,
  /longer than the model'?s? (?:context|maximum)/,
  /prompt is too long/,
  /input is too long/,
  /too large for model with \d+ maximum context/,
  /input token count .{0,40}exceeds the maximum/,
  /`inputs` tokens \+ `max_new_tokens` must be <=/,
  /reduce the length of the (?:messages|prompt|input)/,
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
  if (status !== 429 && TOO_LONG.some((pattern) => pattern.test(message))) return 'too-long';
  return STATUSES.get(status) ?? (status >= 500 ? 'outage' : 'refused');
}

/** The status in an error that came with status 200, or in a stream, if it holds one: some vendors write it as its code. */
export function statusIn({ codes }: ErrorFacts): number | undefined {
  const status = codes.find((code) => /^[45]\d\d$/.test(code));
  return status === undefined ? undefined : Number(status);
}

const REQUEST_AT_FAULT = new Set(['invalid_request_error', 'badrequesterror', 'content_filter']);

/** The kind of an error without a status. One that does not blame the request is the provider's own failure. */
export function kindOfFrame(facts: ErrorFacts): ErrorKind {
  const isRequest = facts.codes.some((code) => REQUEST_AT_FAULT.has(code));
  return kindOf(statusIn(facts) ?? (isRequest ? 400 : 500), facts);
}
