import { createGoogle } from '@ai-sdk/google';
import type { JSONSchema7, LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { callFetch } from '#providers/google/call-fetch.ts';
import { codeOfBody, failureKindOf, retryDelayOf } from '#providers/google/failures.ts';
import { createGeminiFit } from '#providers/google/fit.ts';
import { fitPrompt } from '#providers/google/fit-prompt.ts';
import { signsCalls, thinkingOf } from '#providers/models/gemini.ts';
import { signatureIn, signatureStream, withTextSignatures } from '#providers/google/signed-texts.ts';
import { countsOf } from '#providers/google/usage.ts';
import type { ProviderCall } from '#providers/port/provider.ts';
import type { CallSettings, Dialect } from '#providers/dialect/dialect.ts';
import { fitFetch } from '#providers/dialect/fit-answer.ts';
import { samplingOf, schemaOf, stopOf } from '#providers/dialect/settings.ts';

interface GoogleOptions {
  readonly kind: 'google' | 'vertex';
  /** The base URL up to and excluding `/models/...`. */
  readonly baseUrl: string;
}

/** Makes the dialect of Gemini's format, at the Gemini API (`google`) and on Vertex (`vertex`), by `@ai-sdk/google`. */
export function googleDialect({ kind, baseUrl }: GoogleOptions): Dialect {
  return {
    kind,
    framing: 'events',
    hasPictures: true,
    modelOf: ({ providerModel, fetch, key }) => {
      const google = createGoogle({
        baseURL: baseUrl.replace(/\/+$/, ''),
        // The library reads a key from the environment if it is given none (MO-11). `callFetch` sends ours.
        apiKey: 'unused',
        fetch: callFetch(fitFetch(fetch, createGeminiFit), key),
        // By this name the library leaves out what only the Gemini API takes, such as the ids of function calls.
        ...(kind === 'vertex' && { name: 'google.vertex.chat' }),
      });
      return fitted(google(providerModel), signsCalls(providerModel));
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
    // A word that is new to us may say that the answer broke off, as most of Google's do.
    finishReasonOf: () => undefined,
    failureKindOf,
    codeOf: codeOfBody,
    retryDelayOf,
  };
}

/** The library's model, with prompts in the form that Gemini wants, and all signatures in sight. */
function fitted(model: LanguageModelV4, isSigned: boolean): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: async (options) => {
      const result = await model.doGenerate(fitPrompt(options, isSigned));
      return { ...result, content: withTextSignatures(result.content) };
    },
    doStream: async (options) => {
      const result = await model.doStream(fitPrompt(options, isSigned));
      return { ...result, stream: result.stream.pipeThrough(signatureStream()) };
    },
  };
}

function settingsOf({ request, providerModel }: ProviderCall): CallSettings {
  const { seed, presence_penalty: presence, frequency_penalty: frequency, reasoning_effort: effort } = request;
  const thinkingConfig = typeof effort === 'string' ? thinkingOf(providerModel, effort) : undefined;
  return {
    ...samplingOf(request, { isAlone: false }),
    ...stopOf(request),
    ...(typeof seed === 'number' && { seed }),
    ...(typeof presence === 'number' && presence !== 0 && { presencePenalty: presence }),
    ...(typeof frequency === 'number' && frequency !== 0 && { frequencyPenalty: frequency }),
    ...responseFormatOf(request),
    ...(thinkingConfig && {
      providerOptions: { google: { thinkingConfig: { ...thinkingConfig, includeThoughts: effort !== 'none' } } },
    }),
  };
}

function responseFormatOf(request: JsonObject): CallSettings {
  const { response_format: format } = request;
  if (!isJsonObject(format) || format['type'] === 'text') return {};
  const schema = schemaOf(request);
  return { responseFormat: { type: 'json', ...(schema && { schema: schema as JSONSchema7 }) } };
}
