/**
 * All names that we export: attributes, spans and their values. Those of `gen_ai`, `http`, `error` and `service` are
 * OpenTelemetry's semantic conventions (GenAI in the state "development": a release may rename them, and then this file
 * changes). Those of `purser` are ours.
 */

export const SCOPE = 'purser';

export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  isStream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
} as const;

/** What the conventions call the operation of a wire. */
export function operationOf(wire: string): 'chat' | 'embeddings' {
  return wire === 'embeddings' ? wire : 'chat';
}

/** What the conventions call the services that a kind of provider speaks to. `openai-compatible` may be anybody. */
export const PROVIDER_NAMES = {
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
} as const;

export const HTTP = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  resend: 'http.request.resend_count',
} as const;

export const ERROR_TYPE = 'error.type';

export const PURSER = {
  /** The mode is `live` or `sandbox`. No money moves in the sandbox. */
  mode: 'purser.mode',
  /** The outcome is `answered`, `abandoned`, `failed`, `refused` or `replayed`, as in the log. */
  outcome: 'purser.outcome',
  /** The refusal's code. */
  code: 'purser.code',
  app: 'purser.app.id',
  call: 'purser.call.id',
  correlation: 'purser.correlation.id',
  tries: 'purser.tries',
  charged: 'purser.charged.micros',
  /** What the call was charged for. Not `gen_ai.usage`, which the provider's span has: backends would add both up. */
  inputTokens: 'purser.charged.input_tokens',
  outputTokens: 'purser.charged.output_tokens',
  /** The provider's name in the catalogue. */
  provider: 'purser.provider',
  /** The attribute is set if a call is exported although its trace was not sampled. */
  sampling: 'purser.sampling',
} as const;

export const SPAN_NAMES = {
  admission: 'admission',
  hold: 'hold',
  settlement: 'settlement',
} as const;
