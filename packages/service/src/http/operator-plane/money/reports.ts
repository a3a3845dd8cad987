import { BILL_ROUTES } from '@purser/contract/bills.ts';
import { RECONCILIATION_ROUTES } from '@purser/contract/reconciliation.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import type { FiledReport } from '#reconciliation/reports/filing.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import type { ComparedBill } from '#reconciliation/bills/bills.ts';

/** Routes that compare reports of the payment processor with our books (ON-03). */
export function addReconciliationRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { reconciliations } = operator;
  const add = routes(RECONCILIATION_ROUTES);

  add('GET /operator/reconciliations', async ({ query: { before, limit } }) => {
    const page = { before: before === undefined ? undefined : BigInt(before), most: limit };
    const filed = await reconciliations.filed(page);
    return { reports: filed.map(shownReport), next: filed.length < limit ? null : String(filed.at(-1)?.seq) };
  });

  add('POST /operator/reconciliations', async ({ act, body: { report, ...period } }) => {
    const file = report === undefined ? undefined : [Buffer.from(report, 'utf8')];
    const done = granted(await reconciliations.reconcile(act, period, file));
    const { found, daysApart, filed } = done;
    return { ...done.period, ...done, clean: found === daysApart, filed: filed && shownReport(filed) };
  });
}

function shownReport(report: FiledReport) {
  return { ...report.period, ...report };
}

/** The route that compares a provider's bill with our receipts. */
export function addBillRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes(BILL_ROUTES)('POST /operator/bills', async ({ body: { provider, format, from, to, dollarMicros, bill } }) => {
    const rate = dollarMicros === undefined ? undefined : BigInt(dollarMicros);
    const asked = { provider, format, period: { from, to }, dollarMicros: rate };
    return shownBill(granted(await operator.bills.compare(asked, [Buffer.from(bill, 'utf8')])));
  });
}

function shownBill({ rows, theirs, ours, unpaid, difference }: ComparedBill) {
  const sums = { theirMicros: theirs, ourMicros: ours, unpaidMicros: unpaid, differenceMicros: difference };
  return {
    ...sums,
    rows: rows.map((row) => ({
      ...row.ours,
      day: row.day,
      model: row.model,
      theirMicros: row.theirs / PICOS_PER_MICRO,
      ourMicros: row.ours.cost / PICOS_PER_MICRO,
      unpaidMicros: row.ours.unpaidCost / PICOS_PER_MICRO,
      differenceMicros: (row.theirs - row.ours.cost) / PICOS_PER_MICRO,
      requests: row.requests,
      theirInputTokens: row.inputTokens,
      ourInputTokens: row.ours.inputTokens,
      theirOutputTokens: row.outputTokens,
      ourOutputTokens: row.ours.outputTokens,
    })),
  };
}
