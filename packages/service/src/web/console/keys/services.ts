import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ReadBudgets } from '#http/planes/key-budgets.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of keys act on. */
export interface ConsoleKeysServices extends ConsoleServices {
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
  readonly stats: Stats;
  readonly readBudgets: ReadBudgets;
  readonly whenEverywhere: WhenEverywhere;
}
