import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import { unreachable } from '#kernel/assert.ts';
import { createOpenAiCompatible } from '#providers/openai-compatible/adapter.ts';
import type { Provider } from '#providers/provider.ts';
import { createHttpClient } from '@purser/upstream-http/client.ts';

interface RegistryOptions {
  /** The base URL of the running simulator; undefined if none runs. */
  readonly simulatorUrl: string | undefined;
  readonly readEnvironment: (name: string) => string | undefined;
}

interface ProviderRegistry {
  /** True if calls can be sent: the provider's key is set, or it needs none. */
  readonly canReach: (definition: CatalogueProvider) => boolean;
  /** The client for a definition. The same definition gets the same client. */
  readonly clientOf: (definition: CatalogueProvider) => Provider;
  readonly close: () => void;
}

export function createProviderRegistry({ simulatorUrl, readEnvironment }: RegistryOptions): ProviderRegistry {
  const http = createHttpClient();
  const clients = new WeakMap<CatalogueProvider, Provider>();

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
    close: http.close,
  };
}
