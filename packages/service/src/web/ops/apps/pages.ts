import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { accountPage } from '#web/ops/apps/account-page.ts';
import { accountsPage } from '#web/ops/apps/accounts-page.ts';
import { appPage } from '#web/ops/apps/app-page.ts';
import { appsPage } from '#web/ops/apps/apps-page.ts';
import { eventPage } from '#web/ops/apps/event-page.ts';
import { keyPage } from '#web/ops/apps/key-page.ts';

/** Apps and accounts, for operators. */
export function opsAppsPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return {
    '/ops/apps': appsPage(services),
    '/ops/app': appPage(services),
    '/ops/key': keyPage(services),
    '/ops/event': eventPage(services),
    '/ops/accounts': accountsPage(services),
    '/ops/account': accountPage(services),
  };
}
