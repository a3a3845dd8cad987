import { deliveryPage } from '#web/console/webhooks/delivery-page.ts';
import { webhooksPage } from '#web/console/webhooks/webhooks-page.ts';
import type { WebhooksServices } from '#web/console/webhooks/services.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The endpoint of an app, what was sent to it, and one event. */
export function consoleWebhooksPages(services: WebhooksServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/webhooks': webhooksPage(services),
    '/console/:part/delivery': deliveryPage(services),
  };
}
