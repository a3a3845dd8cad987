import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOfFrame, errorOfResponse } from '#providers/errors/errors.ts';
import type { UpstreamErrorKind } from '#providers/port/provider.ts';

type Case = readonly [vendor: string, status: number, body: unknown, kind: UpstreamErrorKind, retryAfterMs?: number];

const error = (fields: object): object => ({ error: fields });

/** Answers as vendors document or send them. The texts are shortened. */
const CASES: readonly Case[] = [
  ['OpenAI', 400, error({ message: 'This model has a limit.', code: 'context_length_exceeded' }), 'too-long'],
  ['OpenAI', 401, error({ message: 'Incorrect API key provided: sk-…', code: 'invalid_api_key' }), 'unauthorized'],
  ['OpenAI', 429, error({ code: 'insufficient_quota', type: 'insufficient_quota' }), 'unauthorized'],
  ['OpenAI', 429, error({ code: 'rate_limit_exceeded', type: 'tokens' }), 'throttled'],
  ['OpenAI', 404, error({ code: 'model_not_found', type: 'invalid_request_error' }), 'unauthorized'],
  ['OpenAI', 400, error({ code: 'unsupported_value', type: 'invalid_request_error' }), 'rejected'],
  ['OpenAI', 500, error({ type: 'server_error', code: null }), 'outage'],
  ['OpenAI', 503, error({ type: 'service_unavailable' }), 'outage'],
  ['OpenAI', 503, error({ type: 'server_overloaded' }), 'throttled', 4_000],
  ['vLLM', 400, { object: 'error', message: 'maximum context length is 4096 tokens', code: 400 }, 'too-long'],
  ['vLLM', 404, error({ message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 }), 'rejected'],
  ['llama.cpp', 400, error({ code: 400, type: 'exceed_context_size_error', n_ctx: 256 }), 'too-long'],
  ['llama.cpp', 500, error({ code: 500, message: 'Context size has been exceeded.' }), 'too-long'],
  ['llama.cpp', 503, error({ code: 503, message: 'Loading model', type: 'unavailable_error' }), 'outage'],
  ['llama.cpp', 401, error({ code: 401, type: 'authentication_error' }), 'unauthorized'],
  ['llama.cpp', 500, error({ code: 500, message: 'input (600 tokens) is too large to process. increase' }), 'too-long'],
  ['llama.cpp', 500, error({ code: 500, message: 'image input is not supported - hint: mmproj' }), 'rejected'],
  ['llama.cpp', 500, error({ code: 500, message: 'audio input is not supported', type: 'server_error' }), 'rejected'],
  ['Ollama', 500, error({ message: 'this model is missing data required for image input' }), 'rejected'],
  ['Ollama', 404, error({ message: 'model "x" not found', type: 'not_found_error', code: null }), 'rejected'],
  ['Ollama', 400, error({ message: 'the input length exceeds the context length' }), 'too-long'],
  ['OpenRouter', 402, error({ code: 402, message: 'Insufficient credits' }), 'unauthorized'],
  ['OpenRouter', 400, error({ code: 400, message: "This endpoint's maximum context length is 9 tokens." }), 'too-long'],
  ['OpenRouter', 408, error({ code: 408 }), 'timeout'],
  ['DeepSeek', 402, error({ message: 'Insufficient Balance', code: 'invalid_request_error' }), 'unauthorized'],
  ['Groq', 413, error({ message: 'Request too large', type: 'tokens', code: 'rate_limit_exceeded' }), 'too-long'],
  ['Groq', 498, error({ message: 'Flex tier capacity exceeded' }), 'throttled'],
  ['Cerebras', 400, { message: 'Please reduce the length of the messages.', type: 'x', param: 'messages' }, 'too-long'],
  ['xAI', 400, { code: 'x', error: "This model's maximum prompt length is 9." }, 'too-long'],
  ['Mistral', 400, { object: 'error', message: 'too large for model with 32768 maximum context length' }, 'too-long'],
  ['Mistral', 429, { message: 'Requests rate limit exceeded' }, 'throttled'],
  ['Azure', 404, error({ code: 'DeploymentNotFound' }), 'unauthorized'],
  ['Azure', 400, error({ code: 'content_filter', status: 400 }), 'rejected'],
  ['Google', 400, [error({ code: 400, details: [{ reason: 'API_KEY_INVALID' }] })], 'unauthorized'],
  ['Google', 400, [error({ message: 'The input token count (9) exceeds the maximum number of tokens' })], 'too-long'],
  ['Google', 429, [error({ code: 429, status: 'RESOURCE_EXHAUSTED' })], 'throttled'],
  ['Anthropic', 529, { type: 'error', error: { type: 'overloaded_error' } }, 'throttled'],
  ['Anthropic', 400, { type: 'error', error: { message: 'prompt is too long: 9 tokens > 8 maximum' } }, 'too-long'],
  ['TGI', 422, { error: '`inputs` tokens + `max_new_tokens` must be <= 9.', error_type: 'validation' }, 'too-long'],
  ['TGI', 429, { error: 'Model is overloaded', error_type: 'overloaded' }, 'throttled'],
  ['a proxy', 504, '<html>', 'timeout'],
  ['a proxy', 502, '', 'outage'],
  ['a proxy', 403, '', 'unauthorized'],
  ['a proxy', 409, '{"error":', 'refused'],
  ['a server', 400, 'null', 'rejected'],
  ['a server', 422, { detail: [{ loc: ['body'], msg: 'field required' }] }, 'rejected'],
];

for (const [index, [vendor, status, body, kind, retryAfterMs]] of CASES.entries()) {
  test(`CC-17 the ${status} of ${vendor} is ${kind} (${index + 1})`, () => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const failure = errorOfResponse(status, { text, retryAfterMs, head: '' }, {});
    assert.deepEqual([failure.kind, failure.status], [kind, status]);
    assert.equal(failure.retryAfterSeconds, retryAfterMs === undefined ? undefined : retryAfterMs / 1_000);
  });
}

const FRAMES: readonly (readonly [frame: Record<string, unknown>, kind: UpstreamErrorKind, status?: number])[] = [
  [{ code: 429 }, 'throttled', 429],
  [{ code: 'rate_limit_exceeded' }, 'throttled'],
  [{ type: 'overloaded_error' }, 'throttled'],
  [{ code: 502, message: 'Provider disconnected' }, 'outage', 502],
  [{ object: 'error', message: 'maximum context length is 9', code: 400 }, 'too-long', 400],
  [{ code: 'server_error', message: 'Oops' }, 'outage'],
  [{ message: 'No.', type: 'invalid_request_error' }, 'rejected'],
  [{ code: 'content_filter' }, 'rejected'],
  [{}, 'outage'],
];

for (const [frame, kind, status] of FRAMES) {
  test(`CC-17 the error ${JSON.stringify(frame)} in a stream is ${kind}`, () => {
    const failure = errorOfFrame(frame);
    assert.deepEqual([failure.kind, failure.status], [kind, status]);
  });
}

test('ER-03 no error holds its provider’s text', () => {
  const text = '{"error":{"message":"CANARY","code":"CANARY"}}';
  const failure = errorOfResponse(400, { text, retryAfterMs: undefined, head: '' }, {});
  assert.doesNotMatch(`${failure.message} ${failure.stack} ${JSON.stringify(failure)}`, /canary/i);
});
