import { appsPage } from '#web/console/home/apps-page.ts';
import type { ConsoleHomeServices } from '#web/console/home/services.ts';
import { homePage } from '#web/console/home/home-page.ts';
import { modelsPage } from '#web/console/home/models-page.ts';
import { logoForm, settingsPage } from '#web/console/home/settings-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The list of apps, and the home and settings of one. */
export function consoleHomePages(services: ConsoleHomeServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console': appsPage(services),
    '/console/:part': homePage(services),
    '/console/:part/logo': logoForm(services),
    '/console/:part/models': modelsPage(services),
    '/console/:part/settings': settingsPage(services),
  };
}
