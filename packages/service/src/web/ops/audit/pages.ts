import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { auditFile } from '#web/ops/audit/audit-file.ts';
import { auditPage, signInsPage } from '#web/ops/audit/audit-page.ts';

/** The audit trail and sign-ins, for operators. */
export function opsAuditPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return {
    '/ops/audit': auditPage(services),
    '/ops/audit/sign-ins': signInsPage(services),
    '/ops/audit/export': auditFile(services),
  };
}
