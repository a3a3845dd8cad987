import type { ListenTokens } from '#accounts/listen-token.ts';
import type { DeliveryHistory } from '#webhooks/history.ts';
import type { Subscriptions } from '#webhooks/subscription.ts';
import type { SendTest } from '#webhooks/test-event.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';

/** What the pages of webhooks act on. */
export interface WebhooksServices extends ConsoleServices {
  readonly listenTokens: ListenTokens;
  readonly subscriptions: Subscriptions;
  readonly deliveries: DeliveryHistory;
  readonly sendTestEvent: SendTest;
}
