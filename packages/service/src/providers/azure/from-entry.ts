import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import { createOpenAiEmbeddings } from '#providers/openai-embeddings/adapter.ts';
import { byApi, createOpenAiResponses } from '#providers/openai-responses/adapter.ts';
import { createToResponsesRequest } from '#providers/openai-responses/to-request.ts';
import type { Provider } from '#providers/port/provider.ts';

type Entry = Extract<CatalogueProvider, { kind: 'azure' }>;

/** The last dated version of the paths with deployments that is no preview. */
const API_VERSION = '2024-10-21';

/**
 * Makes a provider of OpenAI's format at Azure, which has another address and another header for the key. Tokens of
 * Microsoft Entra go as bearer tokens.
 */
export function fromAzureEntry(http: HttpClient, entry: Entry, key: KeySource | undefined): Provider {
  const { deployments = false, apiVersion } = entry;
  const base = `${entry.endpoint.replace(/\/+$/, '')}/openai`;
  const urlsOf = (what: string): ((deployment: string) => URL) => {
    const v1 = new URL(`${base}/v1/${what}${query(apiVersion)}`);
    if (!deployments) return () => v1;
    const version = query(apiVersion ?? API_VERSION);
    return (deployment) => new URL(`${base}/deployments/${encodeURIComponent(deployment)}/${what}${version}`);
  };
  // Responses has no path of a deployment, and no dated version that resources of today need.
  const responses = new URL(`${base}/v1/responses${query(deployments ? undefined : apiVersion)}`);
  const address = { http, key, keyHeader: 'api-key' };
  return byApi({
    chat: createOpenAiCompatible({ ...address, urlOf: urlsOf('chat/completions') }),
    responses: createOpenAiResponses({ ...address, urlOf: () => responses, toRequest: createToResponsesRequest() }),
    embeddings: createOpenAiEmbeddings({ ...address, urlOf: urlsOf('embeddings') }),
  });
}

function query(version: string | undefined): string {
  return version === undefined ? '' : `?api-version=${version}`;
}
