import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of webhooks act on. */
export interface WebhooksServices
  extends ConsoleServices,
    Pick<ControlPlane, 'listenTokens' | 'subscriptions' | 'deliveries' | 'sendTestEvent'> {}
