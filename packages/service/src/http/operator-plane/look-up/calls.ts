import { anyFoundCallsSchema, findAnyCallsSchema } from '@purser/contract/usage.ts';
import { findCalls } from '#http/planes/find-calls.ts';
import { operatorsTraceToWire, receiptToWire } from '#http/serializers/call-to-wire.ts';
import { type OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { parseCallId } from '#kernel/values/ids.ts';
import { microsFromRow, microsSumFromRow, microsToWire } from '#kernel/values/micros.ts';
import type { CallBooks } from '#operator/look-up/call-books.ts';

/** The route by which operators find a call of any app (CC-19). */
export function addAnyCallRoutes(plane: Plane, { calls, callBooks }: OperatorPlane): void {
  plane.get(
    '/operator/calls',
    { schema: { querystring: findAnyCallsSchema, response: { 200: anyFoundCallsSchema } } },
    async ({ query }) => {
      const { receipts, traces } = await findCalls(calls, query.appId, query);
      const callId = parseCallId(query.callId ?? '');
      const books = callId === undefined ? undefined : await callBooks(callId);
      const isOther = query.appId !== undefined && books?.hold?.app_id !== query.appId;
      return {
        hold: books?.hold === undefined || isOther ? null : holdToWire(books.hold),
        entries: receipts.length === 0 ? [] : (books?.entries ?? []).map(entryToWire),
        calls: receipts.map((receipt) => ({
          appId: receipt.appId,
          ...receiptToWire(receipt),
          upstream: receipt.upstream ?? null,
        })),
        traces: traces.map(operatorsTraceToWire),
      };
    },
  );
}

function holdToWire(hold: NonNullable<CallBooks['hold']>) {
  return {
    appId: hold.app_id,
    userId: hold.user_id,
    amountMicros: microsToWire(microsFromRow(hold.amount_micros)),
    stream: hold.is_stream,
    placedAt: isoOf(hold.placed_at.getTime()),
  };
}

function entryToWire(entry: CallBooks['entries'][number]) {
  return {
    seq: Number(entry.seq),
    kind: entry.kind,
    debit: entry.debit,
    credit: entry.credit,
    amountMicros: microsToWire(microsSumFromRow(entry.amount_micros)),
    balanceAfterMicros: microsToWire(microsFromRow(entry.balance_after_micros)),
    at: isoOf(entry.at.getTime()),
  };
}
