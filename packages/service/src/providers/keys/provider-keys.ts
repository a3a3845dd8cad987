import { type CatalogueProvider, keyNamesOf } from '@purser/contract/catalogue-providers.ts';
import type { ProviderKeyDefinition, ProviderKeyDefinitions } from '@purser/contract/provider-keys.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { createCommandKey } from '#providers/keys/command-key.ts';
import { createEntraKey } from '#providers/keys/entra-key.ts';
import { createFileKey } from '#providers/keys/file-key.ts';
import { createKeyRules } from '#providers/keys/key-rules.ts';
import { fixedKey, type KeySource } from '#providers/keys/key-source.ts';

/** The keys that calls of a provider can be sent with. */
export interface ProviderKeys {
  /** Returns `[undefined]` if the provider needs no key, and an empty list if it has none that may be sent to it. */
  readonly sourcesOf: (provider: CatalogueProvider) => readonly (KeySource | undefined)[];
}

interface KeysOptions {
  readonly providerKeys: ProviderKeyDefinitions;
  readonly readEnvironment: (name: string) => string | undefined;
  /** The variables that commands get, and for the proxies of requests for tokens. */
  readonly outboundEnvironment: Readonly<Record<string, string | undefined>>;
  readonly clock: SteadyClock;
}

export function createProviderKeys(options: KeysOptions): ProviderKeys {
  const { providerKeys, readEnvironment } = options;
  const rules = createKeyRules(providerKeys);
  // Kept by name, so that a new catalogue keeps the keys that were fetched.
  const sources = new Map<string, KeySource>();

  function namedSource(name: string): KeySource | undefined {
    const definition = providerKeys[name];
    const known = sources.get(name);
    if (definition === undefined || known !== undefined) return known;
    const source = sourceOf(name, definition, options);
    if (source !== undefined) sources.set(name, source);
    return source;
  }

  return {
    sourcesOf: (provider) => {
      if (keyNamesOf(provider).length > 0) {
        return rules
          .namesOf(provider)
          .map(namedSource)
          .filter((source) => source !== undefined);
      }
      const variable = 'apiKeyEnv' in provider ? provider.apiKeyEnv : undefined;
      if (variable === undefined) return [undefined];
      const key = rules.faultOf(provider) === undefined ? readEnvironment(variable) : undefined;
      return key === undefined ? [] : [fixedKey(variable, key)];
    },
  };
}

/** Returns undefined if the variable of the key is not set on this machine. */
function sourceOf(name: string, definition: ProviderKeyDefinition, options: KeysOptions): KeySource | undefined {
  const { readEnvironment, outboundEnvironment, clock } = options;
  if ('env' in definition) {
    const key = readEnvironment(definition.env);
    return key === undefined ? undefined : fixedKey(name, key);
  }
  if ('file' in definition) return createFileKey(name, definition.file, clock);
  if ('entra' in definition) {
    return createEntraKey({ name, entra: definition.entra, readEnvironment, environment: outboundEnvironment, clock });
  }
  const { command, seconds } = definition;
  return createCommandKey({ name, command, seconds, environment: outboundEnvironment, clock });
}
