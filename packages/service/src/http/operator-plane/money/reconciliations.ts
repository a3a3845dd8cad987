import {
  filedListSchema,
  filedPageSchema,
  newReconciliationSchema,
  reconciledSchema,
} from '@purser/contract/reconciliation.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { Difference } from '#reconciliation/reports/compare.ts';
import type { FiledReport } from '#reconciliation/reports/filing.ts';
import type { Reconciled } from '#reconciliation/reports/reconciliations.ts';
import type { Sum } from '#reconciliation/reports/sums.ts';

/** Routes that compare reports of the payment processor with our books (ON-03). */
export function addReconciliationRoutes(plane: Plane, operator: OperatorPlane): void {
  const { reconciliations } = operator;

  plane.get(
    '/operator/reconciliations',
    { schema: { querystring: filedPageSchema, response: { 200: filedListSchema } } },
    async ({ query: { before, limit } }) => {
      const filed = await reconciliations.filed({
        before: before === undefined ? undefined : BigInt(before),
        most: limit,
      });
      return { reports: filed.map(filedToWire), next: filed.length < limit ? null : String(filed.at(-1)?.seq) };
    },
  );

  plane.post(
    '/operator/reconciliations',
    { config: { isLarge: true }, schema: { body: newReconciliationSchema, response: { 200: reconciledSchema } } },
    async (request) => {
      const { report, ...period } = request.body;
      const file = report === undefined ? undefined : [Buffer.from(report, 'utf8')];
      const act = actOf(operator, request, undefined);
      return reconciledToWire(granted(await reconciliations.reconcile(act, period, file)));
    },
  );
}

function reconciledToWire({ period, filed, ...done }: Reconciled) {
  return {
    ...period,
    clean: done.found === done.daysApart,
    digest: done.digest,
    lines: done.lines,
    matched: done.matched,
    foreign: done.foreign,
    differences: done.differences.map(differenceToWire),
    found: done.found,
    daysApart: done.daysApart,
    sums: done.sums.map(sumToWire),
    ownSums: done.ownSums.map(({ amount, ...sum }) => ({ ...sum, amountMicros: Number(amount) })),
    filed: filed === undefined ? null : filedToWire(filed),
  };
}

function differenceToWire({ there, here, difference, ...one }: Difference) {
  return {
    kind: one.kind,
    subject: one.subject,
    line: one.line ?? null,
    transaction: one.transaction ?? null,
    processorId: one.processorId ?? null,
    paymentId: one.paymentId ?? null,
    there: sideToWire(there),
    here: sideToWire(here),
    differenceMicros: difference === undefined ? null : Number(difference),
  };
}

function sideToWire(side: Difference['there']) {
  return side === undefined ? null : { amountMicros: Number(side.amount), currency: side.currency, day: side.day };
}

function sumToWire({ gross, fee, net, ...sum }: Sum) {
  return { ...sum, grossMicros: Number(gross), feeMicros: Number(fee), netMicros: Number(net) };
}

function filedToWire({ seq: _, period, sums, filedByName, filedAtMs, ...filed }: FiledReport) {
  return {
    ...period,
    ...filed,
    sums: sums.map(sumToWire),
    filedByName: filedByName ?? null,
    filedAt: isoOf(filedAtMs),
  };
}
