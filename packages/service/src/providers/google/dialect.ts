import type { JSONSchema7, LanguageModelV4, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject } from '#kernel/json.ts';
import { callFetch } from '#providers/google/call-fetch.ts';
import { codeOfBody, failureKindOf, retryDelayOf } from '#providers/google/failures.ts';
import { fitPrompt } from '#providers/google/fit-prompt.ts';
import { signsCalls, thinkingOf } from '#providers/google/gemini.ts';
import { countsOf } from '#providers/google/usage.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { ProviderCall } from '#providers/provider.ts';
import type { CallSettings, Dialect } from '#providers/translated/dialect.ts';


interface GoogleOptions {
  readonly kind: 'google' | 'vertex';
  /** Up to and excluding `/models/...`. */
  readonly baseUrl: string;
  readonly key: KeySource | undefined;
}

/** Reasons to finish of which V4 knows nothing, and that say that Google withheld the answer. All others are failures. */
const WITHHELD: ReadonlySet<string> = new Set([
  'LANGUAGE',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'MODEL_ARMOR',
]);

/** Gemini's format, at the Gemini API (`google`) and on Vertex (`vertex`). */
export function createGoogleDialect({ kind, baseUrl, key }: GoogleOptions): Dialect {
  const isVertex = kind === 'vertex';
  return {
    kind,
    framing: 'events',
    modelOf: async (providerModel, fetch) => {
      const { createGoogle } = await import('@ai-sdk/google');
      const model = createGoogle({
        baseURL: baseUrl,
        // The library wants a key and sends it. `callFetch` replaces its header.
        apiKey: 'unused',
        fetch: callFetch(fetch, key),
        // By this name the library leaves out what only the Gemini API takes, such as the ids of function calls.
        ...(isVertex && { name: 'google.vertex.chat' }),
      })(providerModel);
      return fitted(model, signsCalls(providerModel));
    },
    settingsOf,
    limitInBody: ({ generationConfig }) =>
      isJsonObject(generationConfig) ? generationConfig['maxOutputTokens'] : undefined,
    cacheOptions: () => ({}),
    reasoning: {
      format: 'google-gemini-v1',
      fieldsOf: (metadata) => {
        const signature = signatureIn(metadata);
        return signature === undefined ? undefined : { signature };
      },
      optionsOf: ({ signature }) => ({ google: { thoughtSignature: signature ?? null } }),
    },
    toolCall: {
      optionsOf: ({ extra_content: extra }) => {
        const google = isJsonObject(extra) ? extra['google'] : undefined;
        const signature = isJsonObject(google) ? google['thought_signature'] : undefined;
        return typeof signature === 'string' ? { google: { thoughtSignature: signature } } : undefined;
      },
      fieldsOf: (metadata) => {
        const signature = signatureIn(metadata);
        return signature === undefined ? undefined : { extra_content: { google: { thought_signature: signature } } };
      },
    },
    countsOf,
    finishReasonOf: (raw) => (WITHHELD.has(raw) ? 'content_filter' : undefined),
    failureKindOf,
    codeOf: codeOfBody,
    retryDelayOf,
  };
}

/** The library's model, with prompts in the form that Gemini wants. */
function fitted(model: LanguageModelV4, isSigned: boolean): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (options) => model.doGenerate(fitPrompt(options, isSigned)),
    doStream: (options) => model.doStream(fitPrompt(options, isSigned)),
  };
}

/** The signature of a part. The library names it by the vendor: `google` or, on Vertex, `googleVertex`. */
function signatureIn(metadata: SharedV4ProviderMetadata): string | undefined {
  const signature = (metadata['google'] ?? metadata['googleVertex'])?.['thoughtSignature'];
  return typeof signature === 'string' ? signature : undefined;
}

function settingsOf({ request, providerModel }: ProviderCall): CallSettings {
  const { temperature, top_p: topP, seed, presence_penalty: presence, frequency_penalty: frequency } = request;
  const { stop, response_format: format, reasoning_effort: effort } = request;
  const thinkingConfig = typeof effort === 'string' ? thinkingOf(providerModel, effort) : undefined;
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof seed === 'number' && { seed }),
    ...(typeof presence === 'number' && presence !== 0 && { presencePenalty: presence }),
    ...(typeof frequency === 'number' && frequency !== 0 && { frequencyPenalty: frequency }),
    ...((typeof stop === 'string' || Array.isArray(stop)) && { stopSequences: [stop].flat() as string[] }),
    ...responseFormatOf(format),
    ...(thinkingConfig && { providerOptions: { google: { thinkingConfig } } }),
  };
}

function responseFormatOf(format: unknown): Pick<CallSettings, 'responseFormat'> {
  if (!isJsonObject(format) || format['type'] === 'text') return {};
  const named = format['json_schema'];
  const schema = isJsonObject(named) ? named['schema'] : undefined;
  return { responseFormat: { type: 'json', ...(isJsonObject(schema) && { schema: schema as JSONSchema7 }) } };
}
