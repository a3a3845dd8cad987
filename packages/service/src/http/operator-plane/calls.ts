import { anyFoundCallsSchema, findAnyCallsSchema } from '@purser/contract/usage.ts';
import { findCalls, operatorsTraceToWire, receiptToWire } from '#http/find-calls.ts';
import { type OperatorPlane } from '#http/operator-plane/operator-plane.ts';
import type { Plane } from '#http/planes.ts';

/** The route by which operators find a call of any app (CC-19). */
export function addAnyCallRoutes(plane: Plane, { calls }: OperatorPlane): void {
  plane.get(
    '/operator/calls',
    { schema: { querystring: findAnyCallsSchema, response: { 200: anyFoundCallsSchema } } },
    async ({ query }) => {
      const { receipts, traces } = await findCalls(calls, query.appId, query);
      return {
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
