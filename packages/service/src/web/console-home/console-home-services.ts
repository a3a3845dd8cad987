import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';

/** What the page of models acts on besides. */
export interface CatalogueServices extends ConsoleServices {
  readonly catalogue: Pick<Catalogue, 'list'>;
}
