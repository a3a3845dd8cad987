import { type CatalogueProvider, vertexAddress } from '@purser/contract/catalogue-providers.ts';
import { keepAccessToken } from '#providers/google/access-tokens.ts';
import { fetchAccessToken } from '#providers/google/credentials.ts';
import { googleDialect } from '#providers/google/dialect.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider } from '#providers/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/vendor-fetch.ts';

interface VertexOptions {
  readonly definition: Extract<CatalogueProvider, { kind: 'vertex' }>;
  readonly http: VendorHttp;
  /** A key of the settings. Vertex takes access tokens only, so it must be one. */
  readonly key: KeySource | undefined;
}

/** Gemini models on Vertex AI, by access tokens of a service account or a workload identity. */
export function createVertex({ definition, http, key }: VertexOptions): Provider {
  const { project, location } = definition;
  const baseUrl = `${vertexAddress(definition)}/v1/projects/${project}/locations/${location}/publishers/google`;
  const tokens = key ?? tokenSource(definition, http);
  return createTranslated({
    http,
    dialect: googleDialect({ kind: 'vertex', baseUrl }),
    key: { ...tokens, isToken: true },
  });
}

function tokenSource({ project, credentialsFile }: VertexOptions['definition'], http: VendorHttp): KeySource {
  const { current, drop } = keepAccessToken(() => fetchAccessToken({ http, project, credentialsFile }));
  return { name: credentialsFile ?? 'environment', isToken: true, current, refused: drop };
}
