import {
  identityParamsSchema,
  identityQuerySchema,
  identitySchema,
  moveIdentitySchema,
} from '@purser/contract/operator-people.ts';
import { operatorWalletParamsSchema, operatorWalletSchema, reasonSchema } from '@purser/contract/operator.ts';
import { shownWallet } from '#http/operator-plane/money/wallets.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for people who have lost their mailbox: look up a person, move them to another e-mail, release a wallet (WA-15). */
export function addWalletOwnerRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { walletOwners } = operator;

  routes.show(
    '/operator/identities',
    { query: identityQuerySchema, answer: identitySchema },
    async ({ query }) =>
      (await walletOwners.find(query.email)) ?? refuse('NOT_FOUND', 'Nobody signs in with this e-mail.'),
  );

  routes.act(
    'PATCH /operator/identities/:identityId',
    { params: identityParamsSchema, body: moveIdentitySchema, answer: identitySchema },
    (act, { params, body }) => walletOwners.move(act, params.identityId, body.email),
  );

  routes.act(
    'POST /operator/apps/:appId/wallets/:userId/release',
    { params: operatorWalletParamsSchema, body: reasonSchema, answer: operatorWalletSchema },
    async (act, { params }) => shownWallet(granted(await walletOwners.release(act, params))),
  );
}
