import { comparedBillSchema, newBillSchema } from '@purser/contract/bills.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import type { ComparedBill } from '#reconciliation/bills/bills.ts';

/** The route that compares a provider's bill with our receipts. */
export function addBillRoutes(plane: Plane, { bills }: OperatorPlane): void {
  plane.post(
    '/operator/bills',
    { config: { isLarge: true }, schema: { body: newBillSchema, response: { 200: comparedBillSchema } } },
    async ({ body: { provider, format, from, to, dollarMicros, bill } }) => {
      const of = { provider, format, period: { from, to } };
      const rate = dollarMicros === undefined ? undefined : BigInt(dollarMicros);
      const compared = granted(await bills.compare({ ...of, dollarMicros: rate }, [Buffer.from(bill, 'utf8')]));
      return billToWire(compared);
    },
  );
}

function billToWire({ rows, theirs, ours, unpaid, difference }: ComparedBill) {
  return {
    theirMicros: Number(theirs),
    ourMicros: Number(ours),
    unpaidMicros: Number(unpaid),
    differenceMicros: Number(difference),
    rows: rows.map((row) => ({
      day: row.day,
      model: row.model ?? null,
      theirMicros: Number(row.theirs / PICOS_PER_MICRO),
      ourMicros: Number(row.ours.cost / PICOS_PER_MICRO),
      unpaidMicros: Number(row.ours.unpaidCost / PICOS_PER_MICRO),
      differenceMicros: Number((row.theirs - row.ours.cost) / PICOS_PER_MICRO),
      requests: numberOf(row.requests),
      calls: Number(row.ours.calls),
      unpaidCalls: Number(row.ours.unpaidCalls),
      roughCalls: Number(row.ours.roughCalls),
      theirInputTokens: numberOf(row.inputTokens),
      ourInputTokens: Number(row.ours.inputTokens),
      theirOutputTokens: numberOf(row.outputTokens),
      ourOutputTokens: Number(row.ours.outputTokens),
    })),
  };
}

function numberOf(count: bigint | undefined): number | null {
  return count === undefined ? null : Number(count);
}
