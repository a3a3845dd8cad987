import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import { assert, unreachable } from '#kernel/faults/assert.ts';
import { createAnthropic } from '#providers/anthropic/anthropic.ts';
import { fromAzureEntry } from '#providers/azure/from-entry.ts';
import { withEmbeddings } from '#providers/embeddings/with-embeddings.ts';
import { createGeminiEmbeddings } from '#providers/google/embeddings.ts';
import { fixedKey, type KeySource } from '#providers/keys/key-source.ts';
import type { ProviderKeys } from '#providers/keys/provider-keys.ts';
import { lazyProvider } from '#providers/port/lazy.ts';
import { fromMistralEntry } from '#providers/mistral/from-entry.ts';
import { atAddress, fromCompatibleEntry } from '#providers/compatible-entry.ts';
import { createOutboundClient } from '#providers/transport/outbound.ts';
import type { Provider } from '#providers/port/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import { createVendorHttp } from '#providers/transport/vendor-fetch.ts';

interface RegistryOptions {
  /** The base URL of the simulator; undefined if none runs, as in production. */
  readonly simulatorUrl: string | undefined;
  readonly keys: ProviderKeys;
  /** The environment variables, for the proxies that they name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A provider's client that sends calls with one key. */
interface KeyedClient {
  /** The name of the key. It is undefined if the provider takes calls without a key. */
  readonly keyName: string | undefined;
  readonly client: Provider;
}

interface ProviderRegistry {
  /** Returns true if calls can be sent, because the provider's key is set or it needs none. */
  readonly canReach: (definition: CatalogueProvider) => boolean;
  /** A client for each key of a definition that can be used. The same definition gets the same clients, so that connections are kept. */
  readonly clientsOf: (definition: CatalogueProvider) => readonly KeyedClient[];
  /** The client with the key of this place in the list, counted from 0. */
  readonly clientOf: (definition: CatalogueProvider, key: number) => Provider;
  readonly close: () => void;
}

/** Makes the clients of the catalogue's providers, one for each key. A new vendor's adapter gets its line in `create`. */
export function createProviderRegistry({ simulatorUrl, keys, environment }: RegistryOptions): ProviderRegistry {
  const http = createOutboundClient(environment);
  const native = createVendorHttp(environment);
  // Weak, because a new catalogue brings new definitions, and the clients of the old ones must go with them.
  const clients = new WeakMap<CatalogueProvider, readonly KeyedClient[]>();

  function create(definition: CatalogueProvider, key: KeySource | undefined): Provider {
    switch (definition.kind) {
      case 'openai-compatible':
        return fromCompatibleEntry(http, definition, key);
      case 'azure':
        return fromAzureEntry(http, definition, key);
      case 'mistral':
        return fromMistralEntry(http, definition, key);
      case 'simulator':
        if (simulatorUrl === undefined) throw new Error('The provider simulator does not run.');
        return atAddress(http, simulatorUrl, fixedKey('simulator', 'simulator'));
      case 'anthropic':
        return createAnthropic({ definition, http: native, client: http, key });
      case 'bedrock':
        return lazyProvider(async () => {
          const { createBedrock } = await import('#providers/bedrock/bedrock.ts');
          return createBedrock({ place: definition, http: native, client: http, key });
        });
      case 'google':
        return withEmbeddings(
          lazyProvider(async () => {
            const { googleDialect } = await import('#providers/google/dialect.ts');
            return createTranslated({ dialect: googleDialect(definition), http: native, key });
          }),
          createGeminiEmbeddings({ ...definition, http, key }),
        );
      case 'vertex':
        return lazyProvider(async () => {
          const { createVertex } = await import('#providers/google/vertex.ts');
          return createVertex({ definition, http: native, client: http, key, environment });
        });
      default:
        return unreachable(definition);
    }
  }

  function clientsOf(definition: CatalogueProvider): readonly KeyedClient[] {
    const known = clients.get(definition);
    if (known !== undefined) return known;
    const made = keys.sourcesOf(definition).map((key) => ({ keyName: key?.name, client: create(definition, key) }));
    clients.set(definition, made);
    return made;
  }

  return {
    canReach: (definition) =>
      definition.kind === 'simulator' ? simulatorUrl !== undefined : keys.sourcesOf(definition).length > 0,
    clientsOf,
    clientOf: (definition, key) => {
      const all = clientsOf(definition);
      // A pool may have grown since the call began. Its turns are counted by the newest list.
      const keyed = all[key] ?? all[0];
      assert(keyed !== undefined, 'a model is served only if its provider has a key');
      return keyed.client;
    },
    close: () => {
      http.close();
      native.close();
    },
  };
}
