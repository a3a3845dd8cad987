import { anyFoundCallsSchema, findAnyCallsSchema } from '@purser/contract/usage.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { findCalls } from '#http/planes/find-calls.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { operatorsTrace } from '#http/serializers/call-to-wire.ts';
import { parseCallId } from '#kernel/values/ids.ts';

/** The route by which operators find a call of any app (CC-19). */
export function addAnyCallRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { calls, callBooks } = operator;
  routes.show('/operator/calls', { query: findAnyCallsSchema, answer: anyFoundCallsSchema }, async ({ query }) => {
    const { receipts, traces } = await findCalls(calls, query.appId, query);
    const callId = parseCallId(query.callId ?? '');
    const books = callId === undefined ? undefined : await callBooks(callId);
    const isOther = query.appId !== undefined && books?.hold?.app_id !== query.appId;
    return {
      hold: isOther ? undefined : books?.hold,
      entries: receipts.length === 0 ? [] : (books?.entries ?? []),
      calls: receipts,
      traces: traces.map(operatorsTrace),
    };
  });
}
