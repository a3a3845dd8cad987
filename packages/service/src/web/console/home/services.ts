import type { Logos } from '#developers/apps/logo.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the home and the models of an app act on besides. */
export interface ConsoleHomeServices extends ConsoleServices {
  readonly catalogue: Pick<Catalogue, 'list'>;
  readonly stats: Stats;
  readonly logos: Logos;
  readonly deliveries: Pick<DeliveryHistory, 'health'>;
}

export type WebhookHealth = Awaited<ReturnType<DeliveryHistory['health']>>;
