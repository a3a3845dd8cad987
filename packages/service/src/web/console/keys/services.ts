import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of keys act on. */
export interface ConsoleKeysServices
  extends ConsoleServices,
    Pick<ControlPlane, 'stats' | 'readBudgets' | 'whenEverywhere'> {
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
}
