import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { billsPage } from '#web/ops/bills/bills-page.ts';
import { reconciliationPage } from '#web/ops/bills/reconciliation-page.ts';

/** What others say they moved and billed, beside our books. */
export function opsBillsPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return { '/ops/reconciliation': reconciliationPage(services), '/ops/bills': billsPage(services) };
}
