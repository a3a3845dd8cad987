import { PENDING_ROUTES } from '@purser/contract/operator-pending.ts';
import { shownWallet } from '#http/operator-plane/money/wallets.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { shownPending } from '#http/serializers/pending.ts';

/** Routes for acts that wait for a second person (CP-07). */
export function addPendingRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { pending } = operator;
  const add = routes(PENDING_ROUTES);

  add('GET /operator/pending', async ({ query: { before, limit, state } }) => {
    const { acts, next } = await pending.list({ before, most: limit, isWaiting: state === 'waiting' });
    return { acts: acts.map(shownPending), next };
  });

  add('POST /operator/pending/{pendingId}/confirm', async ({ act, params }) => {
    const done = granted(await pending.confirm(act, params.pendingId));
    return { act: shownPending(done.act), wallet: done.wallet && shownWallet(done.wallet) };
  });

  add('POST /operator/pending/{pendingId}/reject', async ({ act, params }) =>
    shownPending(granted(await pending.reject(act, params.pendingId))),
  );
}
