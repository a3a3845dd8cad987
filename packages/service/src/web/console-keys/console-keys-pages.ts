import type { ConsoleKeysServices } from '#web/console-keys/console-keys-services.ts';
import { keyPage } from '#web/console-keys/key-page.ts';
import { keysPage } from '#web/console-keys/keys-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The API keys of an app, and one of them. */
export function consoleKeysPages(services: ConsoleKeysServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/keys': keysPage(services),
    '/console/:part/key': keyPage(services),
  };
}
