import { playgroundPage } from '#web/console/playground/playground-page.ts';
import type { PlaygroundServices } from '#web/console/playground/services.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** Where people try calls. */
export function consolePlaygroundPages(services: PlaygroundServices): Readonly<Record<string, PageMethods>> {
  return { '/console/:part/playground': playgroundPage(services) };
}
