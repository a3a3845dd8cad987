import { isDeepStrictEqual } from 'node:util';
import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, originOf } from '@purser/contract/catalogue-providers.ts';

/** What the settings say of a provider's keys, which no edit of the catalogue changes (MO-11). */
export interface KeyRules {
  /** The first field that names a key which does not exist or may not be sent to this provider. */
  readonly faultOf: (provider: CatalogueProvider) => { readonly field: string; readonly words: string } | undefined;
  /** The settings themselves allow that the secret which the provider names is sent to it. */
  readonly isAllowed: (provider: CatalogueProvider) => boolean;
}

interface StrangeKey {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Finds a secret that an edit would send to an address where it is not sent now (MO-11). A session of an operator may be stolen,
 * and must not turn the service's keys into the thief's. The settings on the machine and the catalogue file at start may pair any
 * key with any address: the person who writes them controls the environment anyway.
 */
export function strangeKeyIn(file: CatalogueFile, current: CatalogueFile, keys: KeyRules): StrangeKey | undefined {
  const paired = new Set(Object.values(current.providers).map(pairOf));
  for (const [name, provider] of Object.entries(file.providers)) {
    // An entry that is there already stands in the way of no other change.
    const known = Object.hasOwn(current.providers, name) ? current.providers[name] : undefined;
    if (isDeepStrictEqual(provider, known)) continue;
    const fault = keys.faultOf(provider) ?? newPairFault(provider, paired, keys);
    if (fault !== undefined) return { path: ['providers', name, ...fault.field.split('.')], message: fault.words };
  }
  return undefined;
}

function newPairFault(provider: CatalogueProvider, paired: ReadonlySet<string | undefined>, keys: KeyRules) {
  const credential = credentialOf(provider);
  if (credential === undefined || paired.has(pairOf(provider)) || keys.isAllowed(provider)) return undefined;
  const { field, value } = credential;
  const words =
    `\`${value}\` is not sent to ${originOf(provider)} now. Name a key of the settings file ` +
    '`PURSER_PROVIDER_KEYS` by `apiKey`, or change the catalogue file of the service';
  return { field, words };
}

/** A secret that a provider names itself, and where it goes. */
function pairOf(provider: CatalogueProvider): string | undefined {
  const credential = credentialOf(provider);
  return credential === undefined ? undefined : `${credential.field} ${credential.value} ${originOf(provider)}`;
}
