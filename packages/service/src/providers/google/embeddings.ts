import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import { askedOf } from '#providers/embeddings/embeddings-request.ts';
import { inParts } from '#providers/embeddings/in-parts.ts';
import { vectorModelOf, vertexActionOf } from '#providers/models/embeddings.ts';
import { completionOfVectors, tooLarge, usageOfTokens } from '#providers/embeddings/vectors.ts';
import { neverStreamed } from '#providers/embeddings/with-embeddings.ts';
import { errorOfGoogle } from '#providers/google/failures.ts';
import { checkForError } from '#providers/errors/errors.ts';
import { createJsonProvider, type Address } from '#providers/openai-compatible/json-provider.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';

type Place = Pick<Address, 'http' | 'key'> & {
  /** The base URL up to and excluding `/models/...`. */
  readonly baseUrl: string;
};

/** Embeddings of the Gemini API. By its library for this format, the count of tokens would be lost. */
export function createGeminiEmbeddings({ http, key, baseUrl }: Place): Provider {
  const urlOf = (providerModel: string): URL =>
    new URL(`${baseUrl.replace(/\/+$/, '')}/${pathOf(providerModel)}:batchEmbedContents`);
  const address = { http, key, keyHeader: 'x-goog-api-key', urlOf };
  return inParts(
    createVectors(address, toBatch, (answer) => ({
      vectors: listIn(answer, 'embeddings').map(valuesIn),
      tokens: fieldIn(fieldIn(answer, 'usageMetadata'), 'promptTokenCount'),
    })),
    (providerModel) => vectorModelOf('google', providerModel).textsMax,
  );
}

/** Embeddings on Vertex AI, which has one interface for its newer models and another one for those before. */
export function createVertexEmbeddings({ http, key, baseUrl }: Place): Provider {
  const urlOf = (providerModel: string): URL =>
    new URL(`${baseUrl}/models/${encodeURIComponent(providerModel)}:${vertexActionOf(providerModel)}`);
  return inParts(
    createVectors({ http, key, urlOf }, toVertexRequest, readVertex),
    (providerModel) => vectorModelOf('vertex', providerModel).textsMax,
  );
}

interface Read {
  readonly vectors: readonly unknown[];
  readonly tokens: unknown;
}

function createVectors(
  address: Address,
  toRequest: (call: ProviderCall) => string,
  read: (answer: JsonObject) => Read,
): Provider {
  const { complete } = createJsonProvider(address, {
    toRequest,
    completionOf: (answer, call): Completion => {
      checkForError(answer);
      const { vectors, tokens } = isJsonObject(answer) ? read(answer) : { vectors: undefined, tokens: undefined };
      return completionOfVectors(
        vectors?.map((embedding) => ({ embedding })),
        usageOfTokens(tokens),
        call,
      );
    },
    cutCompletionOf: tooLarge,
    readerOf: neverStreamed,
    errorOf: errorOfGoogle,
  });
  return { complete, stream: neverStreamed };
}

function pathOf(providerModel: string): string {
  return providerModel.includes('/') ? providerModel : `models/${providerModel}`;
}

function toBatch(call: ProviderCall): string {
  const { texts, dimensions: outputDimensionality } = askedOf(call);
  const model = pathOf(call.providerModel);
  return JSON.stringify({
    requests: texts.map((text) => ({ model, content: { parts: [{ text }] }, outputDimensionality })),
  });
}

function toVertexRequest(call: ProviderCall): string {
  return vertexActionOf(call.providerModel) === 'predict' ? toPrediction(call) : toContent(call);
}

/** Without `autoTruncate` a long text is refused. With it, the end of the text would be left out in silence. */
function toPrediction(call: ProviderCall): string {
  const { texts, dimensions: outputDimensionality } = askedOf(call);
  const instances = texts.map((content) => ({ content }));
  return JSON.stringify({ instances, parameters: { autoTruncate: false, outputDimensionality } });
}

function toContent(call: ProviderCall): string {
  const { texts, dimensions: outputDimensionality } = askedOf(call);
  const content = { role: 'user', parts: texts.map((text) => ({ text })) };
  return JSON.stringify({ content, embedContentConfig: { autoTruncate: false, outputDimensionality } });
}

function readVertex(answer: JsonObject): Read {
  const { embedding, usageMetadata } = answer;
  if (embedding !== undefined)
    return { vectors: [valuesIn(embedding)], tokens: fieldIn(usageMetadata, 'promptTokenCount') };
  const made = listIn(answer, 'predictions').map((one) => fieldIn(one, 'embeddings'));
  const counts = made.map((one) => fieldIn(fieldIn(one, 'statistics'), 'token_count'));
  return { vectors: made.map(valuesIn), tokens: sumOf(counts) };
}

/** The tokens of all texts. Undefined if one was not counted. */
function sumOf(counts: readonly unknown[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (typeof count !== 'number') return undefined;
    sum += count;
  }
  return sum;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name);
  return Array.isArray(list) ? list : [];
}

function valuesIn(value: unknown): unknown {
  return fieldIn(value, 'values');
}

function fieldIn(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}
