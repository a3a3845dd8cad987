import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { mayBeSentTo, type ProviderKeyDefinitions } from '@purser/contract/provider-keys.ts';

/** Which host each key may be sent to, by settings that no edit of the catalogue reaches (MO-11). */
interface KeyRules {
  /** The first field of a provider that names a key which does not exist or may not be sent to it. */
  readonly faultOf: (provider: CatalogueProvider) => KeyFieldFault | undefined;
  /** The names of a provider's keys that may be sent to it. */
  readonly namesOf: (provider: CatalogueProvider) => readonly string[];
  /** The settings themselves allow that the secret which the provider names is sent to it. */
  readonly isAllowed: (provider: CatalogueProvider) => boolean;
}

interface KeyFieldFault {
  readonly field: string;
  /** What is wrong with it, to follow the name of the field. */
  readonly words: string;
}

export function createKeyRules(definitions: ProviderKeyDefinitions): KeyRules {
  /** The keys of the settings that are this variable's: their hosts bind it wherever it is named. */
  const boundTo = (variable: string) =>
    Object.values(definitions).filter((one) => 'env' in one && one.env === variable);

  function nameFault(provider: CatalogueProvider, { name, field }: { name: string; field: string }) {
    const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (definition === undefined) {
      return { field, words: `\`${name}\` is not a key of the settings file \`PURSER_PROVIDER_KEYS\`` };
    }
    const origin = originOf(provider);
    if (origin !== undefined && mayBeSentTo(definition, origin)) return undefined;
    return {
      field,
      words: `the key \`${name}\` must not be sent to ${origin}. Its \`hosts\` are in the settings file`,
    };
  }

  function variableFault(provider: CatalogueProvider): KeyFieldFault | undefined {
    const credential = credentialOf(provider);
    const origin = originOf(provider);
    if (credential === undefined || origin === undefined) return undefined;
    const { field, value } = credential;
    const bound = boundTo(value);
    if (bound.length === 0 || bound.some((one) => mayBeSentTo(one, origin))) return undefined;
    const words = `the key of \`${value}\` must not be sent to ${origin}. Its \`hosts\` are in the settings file`;
    return { field, words };
  }

  return {
    faultOf: (provider) => {
      for (const one of keyNamesOf(provider)) {
        const fault = nameFault(provider, one);
        if (fault !== undefined) return fault;
      }
      return variableFault(provider);
    },
    namesOf: (provider) =>
      keyNamesOf(provider)
        .filter((one) => nameFault(provider, one) === undefined)
        .map(({ name }) => name),
    isAllowed: (provider) => {
      const credential = credentialOf(provider);
      const origin = originOf(provider);
      if (credential === undefined || origin === undefined) return true;
      return boundTo(credential.value).some((one) => mayBeSentTo(one, origin));
    },
  };
}
