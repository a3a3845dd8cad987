import type { ConsoleServices } from '#web/console/console-services.ts';
import { appsPage } from '#web/console-home/apps-page.ts';
import { homePage } from '#web/console-home/home-page.ts';
import { settingsPage } from '#web/console-home/settings-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The list of apps, and the home and settings of one. */
export function consoleHomePages(services: ConsoleServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console': appsPage(services),
    '/console/:part': homePage(services),
    '/console/:part/settings': settingsPage(services),
  };
}
