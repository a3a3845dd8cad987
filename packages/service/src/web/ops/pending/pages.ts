import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { pendingPage } from '#web/ops/pending/pending-page.ts';

/** Acts that wait for a second person. */
export function opsPendingPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return { '/ops/pending': pendingPage(services) };
}
