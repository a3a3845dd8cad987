/** Ids of the models, and so what a call names. */
export const MODEL = 'bench';
export const PACED_MODEL = 'bench-paced';
export const SECURE_MODEL = 'bench-secure';
/** Its calls hold what they are charged, if they ask for as many tokens as the upstream gives: its input is free. */
export const EXACT_MODEL = 'bench-exact';
/** Its provider has a format of its own, so that requests and answers are translated. */
export const TRANSLATED_MODEL = 'bench-translated';
/** It is a Claude, so what callers of Messages send goes out as they wrote it. */
export const CLAUDE_MODEL = 'bench-claude';
/** Its provider speaks Responses, and nothing else. */
export const RESPONSES_MODEL = 'bench-responses';
/** Makes embeddings. */
export const EMBEDDINGS_MODEL = 'bench-embeddings';
/** The setting with the key of a provider that refuses to do without. */
export const PROVIDER_KEY = 'BENCH_PROVIDER_KEY';
/** What the upstream's answers report as used; the price of a call follows from it. */
export const USAGE = { prompt: 120, completion: 60 };
/** The price of a call, at a micro for each prompt token and four for each completion token, without a margin. */
export const CALL_PRICE_MICROS = USAGE.prompt + 4 * USAGE.completion;
/** The numbers of a vector, as a common model makes them. */
export const VECTOR_NUMBERS = 1_536;
export const EXACT_PRICE_MICROS = 4 * USAGE.completion;

/**
 * The catalogue of a benchmark: everything at one upstream, whose paths tell what kind of answer is wanted, but for a model
 * at another one, that is reached over TLS.
 */
export function catalogueOf(upstreamUrl: string, secureUrl = upstreamUrl) {
  const common = {
    resale: 'open',
    providerModel: 'bench-upstream',
    price: { inputMicrosPerMillion: 1_000_000, outputMicrosPerMillion: 4_000_000 },
    contextTokens: 128_000,
    maxOutputTokens: 1_000,
  };
  return {
    providers: {
      fast: { kind: 'openai-compatible', baseUrl: `${upstreamUrl}/v1` },
      secure: { kind: 'openai-compatible', baseUrl: `${secureUrl}/v1` },
      messages: { kind: 'anthropic', baseUrl: `${upstreamUrl}/messages/v1`, apiKeyEnv: PROVIDER_KEY },
      responses: { kind: 'openai-compatible', baseUrl: `${upstreamUrl}/responses/v1`, apis: ['responses'] },
      embeddings: { kind: 'openai-compatible', baseUrl: `${upstreamUrl}/embeddings/v1`, apis: ['embeddings'] },
      paced: { kind: 'openai-compatible', baseUrl: `${upstreamUrl}/paced/v1` },
    },
    models: [
      { id: 'bench.model-1', provider: 'fast', ...common },
      { id: 'bench.translated-1', provider: 'messages', ...common },
      { id: 'bench.claude-1', provider: 'messages', ...common, providerModel: 'claude-haiku-4-5' },
      { id: 'bench.responses-1', provider: 'responses', ...common },
      {
        id: 'bench.embeddings-1',
        provider: 'embeddings',
        ...common,
        // An input alone then costs what a call does.
        price: { inputMicrosPerMillion: (CALL_PRICE_MICROS / USAGE.prompt) * 1_000_000, outputMicrosPerMillion: 0 },
        maxOutputTokens: 1,
        dimensionsMax: VECTOR_NUMBERS,
      },
      { id: 'bench.paced-1', provider: 'paced', ...common },
      { id: 'bench.secure-1', provider: 'secure', ...common },
      {
        id: 'bench.exact-1',
        provider: 'fast',
        ...common,
        price: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 4_000_000 },
        minOutputTokens: USAGE.completion,
      },
    ],
    aliases: {
      [MODEL]: 'bench.model-1',
      [TRANSLATED_MODEL]: 'bench.translated-1',
      [CLAUDE_MODEL]: 'bench.claude-1',
      [RESPONSES_MODEL]: 'bench.responses-1',
      [EMBEDDINGS_MODEL]: 'bench.embeddings-1',
      [PACED_MODEL]: 'bench.paced-1',
      [SECURE_MODEL]: 'bench.secure-1',
      [EXACT_MODEL]: 'bench.exact-1',
    },
  };
}
