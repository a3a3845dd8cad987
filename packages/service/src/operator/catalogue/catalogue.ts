import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import { readCatalogue } from '#catalogue/catalogue-file.ts';
import { type PastPrice, readPriceHistory } from '#catalogue/price-history.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import type { CatalogueChange } from '#operator/catalogue/change.ts';
import {
  type CataloguePreview,
  createEdit,
  createPreview,
  type Edited,
  type EditOptions,
  type EditRefusal,
  type Version,
} from '#operator/catalogue/edit.ts';

/**
 * The catalogue, as operators change it. A change takes effect at once on this process and within a second on the others.
 * Running calls keep the catalogue that they began with (MO-05). Every change is checked as if the whole catalogue were
 * read from a file, and refused if the result is not valid. With a `version`, a change is refused if the catalogue has changed
 * since that version.
 */
export interface CatalogueDesk {
  readonly read: () => Promise<{ readonly file: CatalogueFile; readonly version: bigint }>;
  /** The prices of a model, the newest first: past ones, those in force and those to come. */
  readonly prices: (id: string) => Promise<readonly PastPrice[] | Refusal<'NOT_FOUND'>>;
  /** Why a provider's key may not be sent to it, in words that follow the name of a field. Undefined if it may, or has none. */
  readonly keyFaultOf: (provider: CatalogueProvider) => string | undefined;
  /** What a change would do. It is refused like the change itself, and nothing is stored. */
  readonly preview: (change: CatalogueChange, version: Version) => Promise<CataloguePreview | EditRefusal>;
  /** Makes a change. An entry that exists is replaced. A key is sent to no host to which it was not bound (MO-11). */
  readonly change: (
    act: Act,
    change: CatalogueChange,
    version: Version,
  ) => Promise<Edited<CatalogueFile> | EditRefusal>;
}

export function createCatalogueDesk(options: EditOptions): CatalogueDesk {
  const { pool, keys } = options;
  return {
    read: () => readCatalogue(pool),
    prices: async (id) => {
      const found = await readPriceHistory(pool, id, systemClock.nowMs());
      return found.length === 0 ? refuse('NOT_FOUND', 'No model with this identifier has ever had a price.') : found;
    },
    keyFaultOf: (provider) => keys.faultOf(provider)?.words,
    preview: createPreview(options),
    change: createEdit(options),
  };
}
