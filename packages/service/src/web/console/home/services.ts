import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the home and the models of an app act on besides. */
export interface ConsoleHomeServices extends ConsoleServices, Pick<ControlPlane, 'stats' | 'logos'> {
  readonly catalogue: Pick<Catalogue, 'list'>;
  readonly deliveries: Pick<DeliveryHistory, 'health'>;
}

export type WebhookHealth = Awaited<ReturnType<DeliveryHistory['health']>>;
