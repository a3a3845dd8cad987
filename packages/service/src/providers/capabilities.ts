import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { JsonObject } from '#kernel/json.ts';

/** A part of a request that an upstream cannot be sent, because its format has no word for it. */
export interface Unsupported {
  /** Where it is, such as `n` or `messages[2].content[0]`. */
  readonly path: string;
  /** What to do instead, as a sentence. */
  readonly advice: string;
}

/** What a request is sent to. */
interface Target {
  readonly provider: CatalogueProvider;
  readonly providerModel: string;
}

/**
 * The first part of a valid request that this upstream can neither be sent nor be translated for. Such a request is refused by
 * name, so that nothing is dropped in silence (MO-09). Undefined if all of it arrives.
 */
export function findUnsupported({ provider }: Target, _request: JsonObject): Unsupported | undefined {
  switch (provider.kind) {
    // The caller's own format: a model's `parameters` say what the vendor takes of it.
    case 'openai-compatible':
    case 'simulator':
      return undefined;
  }
}
