import { operatorWalletParamsSchema } from '@purser/contract/operator.ts';
import {
  walletEffectsSchema,
  walletListQuerySchema,
  walletListSchema,
  walletPreviewSchema,
} from '@purser/contract/operator-wallets.ts';
import type { z } from 'zod';
import { shownWallet, walletActOf } from '#http/operator-plane/money/wallets.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount, sentMs } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

const KEY_LENGTH = 22;

/** Routes that list wallets of all apps, and show what an act on one would do (CP-05). */
export function addWalletListRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { walletList, previews } = operator;

  routes.show('/operator/wallets', { query: walletListQuerySchema, answer: walletListSchema }, async ({ query }) => {
    const page = { isOldestFirst: query.sort === 'oldest', after: query.after, most: query.limit };
    const { wallets, next } = granted(await walletList.page(walletFilterOf(query), page));
    return { wallets: wallets.map(shownWallet), next };
  });

  routes.act(
    'POST /operator/apps/:appId/wallets/:userId/preview',
    { params: operatorWalletParamsSchema, body: walletPreviewSchema, answer: walletEffectsSchema },
    async (act, { params, body }) => {
      // Callers' keys cannot contain a space, so this one was never used.
      const key = body.idempotencyKey ?? `preview ${randomBase62(KEY_LENGTH)}`;
      const effects = granted(await previews.walletAct(act, params, { ...walletActOf(body), key }));
      const { isChange, isForTwo, before, after, entries } = effects;
      return {
        changes: isChange,
        needsSecondPerson: isForTwo,
        before: before && shownWallet(before),
        after: shownWallet(after),
        entries,
      };
    },
  );
}

type Query = z.output<typeof walletListQuerySchema>;

/** The filter that a query asks for. The page of wallets asks in the same way. */
export function walletFilterOf(query: Omit<Query, 'sort' | 'after' | 'limit'>) {
  const { appId, userId, status, openedFrom, openedBefore, minHeldMicros, minBalanceMicros, maxBalanceMicros } = query;
  return {
    appId,
    userId: userId === '' ? undefined : userId,
    status,
    openedFromMs: sentMs(openedFrom),
    openedBeforeMs: sentMs(openedBefore),
    // Every wallet holds at least nothing.
    minHeld: minHeldMicros === 0 ? undefined : sentAmount(minHeldMicros),
    minBalance: sentAmount(minBalanceMicros),
    maxBalance: sentAmount(maxBalanceMicros),
  };
}
