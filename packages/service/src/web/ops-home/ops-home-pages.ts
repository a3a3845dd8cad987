import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/ops-services.ts';
import { overviewPage } from '#web/ops-home/overview-page.ts';

/** Where operators begin. */
export function opsHomePages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return { '/ops': overviewPage(services) };
}
