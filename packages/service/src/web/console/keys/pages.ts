import { agentsPage } from '#web/console/keys/agents-page.ts';
import type { ConsoleKeysServices } from '#web/console/keys/services.ts';
import { keyPage } from '#web/console/keys/key-page.ts';
import { keysPage } from '#web/console/keys/keys-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The API keys of an app, one of them, and those for coding agents. */
export function consoleKeysPages(services: ConsoleKeysServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/keys': keysPage(services),
    '/console/:part/key': keyPage(services),
    '/console/:part/agents': agentsPage(services),
  };
}
