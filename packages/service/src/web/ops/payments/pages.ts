import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { casePage } from '#web/ops/payments/case-page.ts';
import { paymentPage } from '#web/ops/payments/payment-page.ts';
import { paymentsPage } from '#web/ops/payments/payments-page.ts';

/** Payments of all wallets, and what about them waits for a person. */
export function opsPaymentsPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return {
    '/ops/payments': paymentsPage(services),
    '/ops/payment': paymentPage(services),
    '/ops/payment-case': casePage(services),
  };
}
