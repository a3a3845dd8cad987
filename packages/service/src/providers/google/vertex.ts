import type { HttpClient } from '@purser/upstream-http/client.ts';
import { type CatalogueProvider, vertexAddress } from '@purser/contract/catalogue-providers.ts';
import { claudeOf } from '#providers/models/claude.ts';
import { keepAccessToken } from '#providers/google/access-tokens.ts';
import { fetchAccessToken } from '#providers/google/credentials.ts';
import { withEmbeddings } from '#providers/embeddings/with-embeddings.ts';
import { googleDialect } from '#providers/google/dialect.ts';
import { createVertexEmbeddings } from '#providers/google/embeddings.ts';
import { createVertexClaude } from '#providers/google/vertex-claude.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface VertexOptions {
  readonly definition: Extract<CatalogueProvider, { kind: 'vertex' }>;
  readonly http: VendorHttp;
  /** For calls that need no library of a vendor. */
  readonly client: HttpClient;
  /** A key of the settings. Vertex takes access tokens only, so it must be one. */
  readonly key: KeySource | undefined;
  /** The environment variables, which may name the host of Google's metadata server. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Makes the provider of models on Vertex AI, Google's and Claude, by access tokens of a service account or a workload identity. */
export function createVertex(options: VertexOptions): Provider {
  const { definition, http, client } = options;
  const { project, location } = definition;
  const place = `${vertexAddress(definition)}/v1/projects/${project}/locations/${location}`;
  const baseUrl = `${place}/publishers/google`;
  const key = { ...(options.key ?? tokenSource(options)), isToken: true };
  const google = withEmbeddings(
    createTranslated({ http, dialect: googleDialect({ kind: 'vertex', baseUrl }), key }),
    createVertexEmbeddings({ http: client, baseUrl, key }),
  );
  const claude = createVertexClaude({ http, client, key, baseUrl: place });
  const of = ({ providerModel }: ProviderCall): Provider => (claudeOf(providerModel) === undefined ? google : claude);
  return {
    complete: (call) => of(call).complete(call),
    stream: (call, signal) => of(call).stream(call, signal),
    countPrompt: async (call) => of(call).countPrompt?.(call),
  };
}

function tokenSource({ definition, http, environment }: VertexOptions): KeySource {
  const { project, credentialsFile } = definition;
  const asked = { http, project, credentialsFile, environment };
  const { current, drop } = keepAccessToken(() => fetchAccessToken(asked));
  return { name: credentialsFile ?? 'environment', isToken: true, current, refused: drop };
}
