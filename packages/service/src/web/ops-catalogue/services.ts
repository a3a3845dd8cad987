import type { Catalogue } from '#catalogue/catalogue.ts';
import type { OpsServices } from '#web/ops/ops-services.ts';

/** What the pages about the catalogue act on besides. */
export interface OpsCatalogueServices extends OpsServices {
  /** In memory: whether a model is served from here. */
  readonly catalogue: Pick<Catalogue, 'find'>;
}
