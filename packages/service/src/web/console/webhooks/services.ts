import type { ListenTokens } from '#developers/teams/listen-token.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';
import type { Subscriptions } from '#webhooks/subscriptions/subscription.ts';
import type { SendTest } from '#webhooks/subscriptions/test-event.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of webhooks act on. */
export interface WebhooksServices extends ConsoleServices {
  readonly listenTokens: ListenTokens;
  readonly subscriptions: Subscriptions;
  readonly deliveries: DeliveryHistory;
  readonly sendTestEvent: SendTest;
}
