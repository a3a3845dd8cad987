import type { Logos } from '#accounts/logo.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { AppId } from '#kernel/ids.ts';
import type { Stats } from '#stats/stats.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';

/** What the home and the models of an app act on besides. */
export interface ConsoleHomeServices extends ConsoleServices {
  readonly catalogue: Pick<Catalogue, 'list'>;
  readonly stats: Stats;
  readonly logos: Logos;
  /** Whether events of an app go anywhere. */
  readonly subscriptions: {
    readonly find: (appId: AppId) => Promise<{ readonly status: 'active' | 'disabled' } | undefined>;
  };
}
