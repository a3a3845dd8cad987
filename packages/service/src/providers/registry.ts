import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import { unreachable } from '#kernel/assert.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import { lazyProvider } from '#providers/lazy.ts';
import type { Provider } from '#providers/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import { createVendorHttp } from '#providers/vendor-fetch.ts';
import { createHttpClient } from '@purser/upstream-http/client.ts';

interface RegistryOptions {
  /** The base URL of the simulator; undefined if none runs, as in production. */
  readonly simulatorUrl: string | undefined;
  readonly readEnvironment: (name: string) => string | undefined;
}

interface ProviderRegistry {
  /** True if calls can be sent: the provider's key is set, or it needs none. */
  readonly canReach: (definition: CatalogueProvider) => boolean;
  /** The client of a definition. The same definition gets the same client, so that its connections are kept. */
  readonly clientOf: (definition: CatalogueProvider) => Provider;
  readonly close: () => void;
}

/** Makes one client for each provider of the catalogue. A new vendor's adapter gets its line in `create`. */
export function createProviderRegistry({ simulatorUrl, readEnvironment }: RegistryOptions): ProviderRegistry {
  const http = createHttpClient();
  const native = createVendorHttp();
  // Weak, because a new catalogue brings new definitions, and the clients of the old ones must go with them.
  const clients = new WeakMap<CatalogueProvider, Provider>();

  /** The key in a variable of the environment: `canReach` found it when the catalogue was read. */
  function keyIn(name: string): string {
    return readEnvironment(name) ?? '';
  }

  function create(definition: CatalogueProvider): Provider {
    switch (definition.kind) {
      case 'openai-compatible': {
        const { baseUrl, apiKeyEnv } = definition;
        const apiKey = apiKeyEnv === undefined ? undefined : readEnvironment(apiKeyEnv);
        return createOpenAiCompatible({ http, baseUrl, apiKey });
      }
      case 'simulator':
        if (simulatorUrl === undefined) throw new Error('The provider simulator does not run.');
        return createOpenAiCompatible({ http, baseUrl: simulatorUrl, apiKey: 'simulator' });
      case 'anthropic': {
        const { baseUrl, apiKeyEnv } = definition;
        return lazyProvider(async () => {
          const { anthropicDialect } = await import('#providers/anthropic/dialect.ts');
          return createTranslated({
            dialect: anthropicDialect({ baseUrl, readKey: () => keyIn(apiKeyEnv) }),
            http: native,
          });
        });
      }
      case 'bedrock':
        return lazyProvider(async () => {
          const { bedrockDialect } = await import('#providers/bedrock/dialect.ts');
          const { apiKeyEnv, ...place } = definition;
          const readKey = apiKeyEnv === undefined ? undefined : () => keyIn(apiKeyEnv);
          return createTranslated({ dialect: bedrockDialect({ ...place, readKey }), http: native });
        });
      default:
        return unreachable(definition);
    }
  }

  return {
    canReach: (definition) => {
      if (definition.kind === 'simulator') return simulatorUrl !== undefined;
      return definition.apiKeyEnv === undefined || readEnvironment(definition.apiKeyEnv) !== undefined;
    },
    clientOf: (definition) => {
      const known = clients.get(definition);
      if (known !== undefined) return known;
      const client = create(definition);
      clients.set(definition, client);
      return client;
    },
    close: () => {
      http.close();
      native.close();
    },
  };
}
