import type { Catalogue } from '#catalogue/catalogue.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';

/** What the pages about the catalogue act on besides. */
export interface OpsCatalogueServices extends OpsServices {
  /** The catalogue in memory, which tells whether a model is served from here. */
  readonly catalogue: Pick<Catalogue, 'find'>;
}
