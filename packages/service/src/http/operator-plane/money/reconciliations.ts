import {
  filedListSchema,
  filedPageSchema,
  newReconciliationSchema,
  reconciledSchema,
} from '@purser/contract/reconciliation.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import type { FiledReport } from '#reconciliation/reports/filing.ts';

/** Routes that compare reports of the payment processor with our books (ON-03). */
export function addReconciliationRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { reconciliations } = operator;

  routes.show(
    '/operator/reconciliations',
    { query: filedPageSchema, answer: filedListSchema },
    async ({ query: { before, limit } }) => {
      const page = { before: before === undefined ? undefined : BigInt(before), most: limit };
      const filed = await reconciliations.filed(page);
      return { reports: filed.map(shownReport), next: filed.length < limit ? null : String(filed.at(-1)?.seq) };
    },
  );

  routes.act(
    'POST /operator/reconciliations',
    { body: newReconciliationSchema, answer: reconciledSchema, config: { isLarge: true } },
    async (act, { body: { report, ...period } }) => {
      const file = report === undefined ? undefined : [Buffer.from(report, 'utf8')];
      const done = granted(await reconciliations.reconcile(act, period, file));
      const { found, daysApart, filed } = done;
      return { ...done.period, ...done, clean: found === daysApart, filed: filed && shownReport(filed) };
    },
  );
}

function shownReport(report: FiledReport) {
  return { ...report.period, ...report };
}
