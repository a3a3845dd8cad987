import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { callPage } from '#web/ops/home/call-page.ts';
import { findPage } from '#web/ops/home/find-page.ts';
import { overviewPage } from '#web/ops/home/overview-page.ts';

/** Where operators begin, and how they find one thing. */
export function opsHomePages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return { '/ops': overviewPage(services), '/ops/find': findPage(services), '/ops/call': callPage(services) };
}
