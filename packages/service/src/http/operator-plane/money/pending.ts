import {
  confirmedActSchema,
  pendingActSchema,
  pendingListSchema,
  pendingPageSchema,
  pendingParamsSchema,
} from '@purser/contract/operator-pending.ts';
import { reasonSchema } from '@purser/contract/operator.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { operatorWalletToWire } from '#http/operator-plane/money/wallets.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { pendingToWire } from '#http/operator-plane/money/pending-to-wire.ts';

/** Routes for acts that wait for a second person (CP-07). */
export function addPendingRoutes(plane: Plane, operator: OperatorPlane): void {
  const { pending } = operator;

  plane.get(
    '/operator/pending',
    { schema: { querystring: pendingPageSchema, response: { 200: pendingListSchema } } },
    async ({ query }) => {
      const page = { before: query.before, most: query.limit, isWaiting: query.state === 'waiting' };
      const { acts, next } = await pending.list(page);
      return { acts: acts.map(pendingToWire), next: next ?? null };
    },
  );

  plane.post(
    '/operator/pending/:pendingId/confirm',
    { schema: { params: pendingParamsSchema, body: reasonSchema, response: { 200: confirmedActSchema } } },
    async (request) => {
      const act = actOf(operator, request, request.body.reason);
      const done = granted(await pending.confirm(act, request.params.pendingId));
      return {
        act: pendingToWire(done.act),
        wallet: done.wallet === undefined ? null : operatorWalletToWire(done.wallet),
      };
    },
  );

  plane.post(
    '/operator/pending/:pendingId/reject',
    { schema: { params: pendingParamsSchema, body: reasonSchema, response: { 200: pendingActSchema } } },
    async (request) => {
      const act = actOf(operator, request, request.body.reason);
      return pendingToWire(granted(await pending.reject(act, request.params.pendingId)));
    },
  );
}
