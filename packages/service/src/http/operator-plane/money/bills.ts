import { comparedBillSchema, newBillSchema } from '@purser/contract/bills.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import type { ComparedBill } from '#reconciliation/bills/bills.ts';

/** The route that compares a provider's bill with our receipts. */
export function addBillRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.act(
    'POST /operator/bills',
    { body: newBillSchema, answer: comparedBillSchema, config: { isLarge: true } },
    async (_act, { body: { provider, format, from, to, dollarMicros, bill } }) => {
      const rate = dollarMicros === undefined ? undefined : BigInt(dollarMicros);
      const asked = { provider, format, period: { from, to }, dollarMicros: rate };
      return shownBill(granted(await operator.bills.compare(asked, [Buffer.from(bill, 'utf8')])));
    },
  );
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
