import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { JsonObject } from '#kernel/json.ts';
import { ANTHROPIC } from '#providers/capabilities/anthropic.ts';
import { BEDROCK } from '#providers/capabilities/bedrock.ts';
import { GOOGLE, VERTEX } from '#providers/capabilities/google.ts';
import { MISTRAL } from '#providers/capabilities/mistral.ts';
import { type Capabilities, findUncovered, type Unsupported } from '#providers/capabilities/rules.ts';

export type { Unsupported } from '#providers/capabilities/rules.ts';

type NativeKind = Exclude<CatalogueProvider['kind'], 'openai-compatible' | 'azure' | 'simulator'>;

/** What a request is sent to. */
interface Target {
  readonly provider: CatalogueProvider;
  readonly providerModel: string;
}

/**
 * The first part of a valid request that this upstream can neither be sent nor be translated for. Such a request is refused by
 * name, so that nothing is dropped in silence (MO-09). Undefined if all of it arrives.
 */
export function findUnsupported({ provider, providerModel }: Target, request: JsonObject): Unsupported | undefined {
  switch (provider.kind) {
    // The caller's own format: a model's `parameters` say what the vendor takes of it.
    case 'openai-compatible':
    case 'azure':
    case 'simulator':
      return undefined;
    case 'anthropic':
    case 'bedrock':
    case 'google':
    case 'vertex':
    case 'mistral':
      return findUncovered(CAPABILITIES[provider.kind], { request, providerModel });
  }
}

/** The capabilities of the kinds that translate. */
export const CAPABILITIES: Readonly<Record<NativeKind, Capabilities>> = {
  anthropic: ANTHROPIC,
  bedrock: BEDROCK,
  google: GOOGLE,
  vertex: VERTEX,
  mistral: MISTRAL,
};
