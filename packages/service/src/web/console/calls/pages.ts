import { callPage } from '#web/console/calls/call-page.ts';
import { callsPage } from '#web/console/calls/calls-page.ts';
import type { CallsServices } from '#web/console/calls/services.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The latest calls of an app, and one of them. */
export function consoleCallsPages(services: CallsServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/calls': callsPage(services),
    '/console/:part/call': callPage(services),
  };
}
