import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import { createToRequest } from '#providers/openai-compatible/to-request.ts';
import { createOpenAiEmbeddings } from '#providers/openai-embeddings/adapter.ts';
import { byApi, createOpenAiResponses } from '#providers/openai-responses/adapter.ts';
import { createToResponsesRequest } from '#providers/openai-responses/to-request.ts';
import type { Provider } from '#providers/port/provider.ts';

type Entry = Extract<CatalogueProvider, { kind: 'openai-compatible' }>;

/** The client of an entry of this kind, with what its vendor does differently. */
export function fromCompatibleEntry(http: HttpClient, entry: Entry, key: KeySource | undefined): Provider {
  const { baseUrl, path = CHAT_PATH, query = {}, authHeader, headers } = entry;
  const keyHeader = authHeader === 'authorization' ? undefined : authHeader;
  const at = (where: string) => {
    const url = new URL(baseUrl.replace(/\/+$/, '') + where);
    url.search = new URLSearchParams(query).toString();
    return { http, urlOf: () => url, key, keyHeader, headers };
  };
  const toResponses = createToResponsesRequest(entry);
  return byApi({
    chat: createOpenAiCompatible({ ...at(path), toRequest: createToRequest(entry) }),
    responses: createOpenAiResponses({ ...at(pathBeside(path, RESPONSES_PATH)), toRequest: toResponses }),
    embeddings: createOpenAiEmbeddings(at(pathBeside(path, EMBEDDINGS_PATH))),
  });
}

const CHAT_PATH = '/chat/completions';
const RESPONSES_PATH = '/responses';
const EMBEDDINGS_PATH = '/embeddings';

/** The path of another interface, which stands beside that of chat completions. An entry may name either. */
function pathBeside(path: string, other: string): string {
  if (path.endsWith(other)) return path;
  return path.endsWith(CHAT_PATH) ? path.slice(0, -CHAT_PATH.length) + other : other;
}

/** The client of a provider at an address of ours. */
export function atAddress(http: HttpClient, baseUrl: string, key: KeySource | undefined): Provider {
  return fromCompatibleEntry(http, { kind: 'openai-compatible', baseUrl, onAbandon: 'cancel' }, key);
}
