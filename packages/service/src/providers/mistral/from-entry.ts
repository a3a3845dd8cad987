import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { withEmbeddings } from '#providers/embeddings/with-embeddings.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { toMistralRequest } from '#providers/mistral/to-request.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import { createOpenAiEmbeddings } from '#providers/openai-embeddings/adapter.ts';
import type { Provider } from '#providers/port/provider.ts';

type Entry = Extract<CatalogueProvider, { kind: 'mistral' }>;

/**
 * Makes the provider Mistral: the compatible format with words of its own. Its answers differ in nothing that the
 * adapter does not read.
 */
export function fromMistralEntry(http: HttpClient, { baseUrl }: Entry, key: KeySource | undefined): Provider {
  const at = (path: string) => {
    const url = new URL(baseUrl.replace(/\/+$/, '') + path);
    return { http, urlOf: () => url, key };
  };
  const ofText = createOpenAiCompatible({ ...at('/chat/completions'), toRequest: toMistralRequest });
  return withEmbeddings(ofText, createOpenAiEmbeddings(at('/embeddings'), inMistralWords));
}

/** Mistral has another word for `dimensions`. */
function inMistralWords(text: string): string {
  if (!text.includes('"dimensions":')) return text;
  const request = parseJson(text);
  if (!isJsonObject(request)) return text;
  const { dimensions, ...others } = request;
  return JSON.stringify({ ...others, output_dimension: dimensions });
}
