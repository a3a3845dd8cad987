import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import { createToRequest } from '#providers/openai-compatible/to-request.ts';
import type { Provider } from '#providers/provider.ts';

type Entry = Extract<CatalogueProvider, { kind: 'openai-compatible' }>;

/** The client of an entry of this kind, with what its vendor does differently. */
export function fromEntry(http: HttpClient, entry: Entry, key: KeySource | undefined): Provider {
  const { baseUrl, path = '/chat/completions', query = {}, authHeader, headers } = entry;
  const url = new URL(baseUrl.replace(/\/+$/, '') + path);
  url.search = new URLSearchParams(query).toString();
  const keyHeader = authHeader === 'authorization' ? undefined : authHeader;
  return createOpenAiCompatible({ http, urlOf: () => url, key, keyHeader, headers, toRequest: createToRequest(entry) });
}

/** The client of a provider at an address of ours. */
export function atAddress(http: HttpClient, baseUrl: string, key: KeySource | undefined): Provider {
  return fromEntry(http, { kind: 'openai-compatible', baseUrl, onAbandon: 'cancel' }, key);
}
