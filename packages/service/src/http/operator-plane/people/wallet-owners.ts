import {
  identityParamsSchema,
  identityQuerySchema,
  identitySchema,
  moveIdentitySchema,
} from '@purser/contract/operator-people.ts';
import { operatorWalletParamsSchema, operatorWalletSchema, reasonSchema } from '@purser/contract/operator.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { operatorWalletToWire } from '#http/operator-plane/money/wallets.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for people who have lost their mailbox: look up a person, move them to another e-mail, release a wallet (WA-15). */
export function addWalletOwnerRoutes(plane: Plane, operator: OperatorPlane): void {
  const { walletOwners } = operator;

  plane.get(
    '/operator/identities',
    { schema: { querystring: identityQuerySchema, response: { 200: identitySchema } } },
    async ({ query }) => {
      const found = await walletOwners.find(query.email);
      const { wallets, ...identity } = granted(found ?? refuse('NOT_FOUND', 'Nobody signs in with this e-mail.'));
      return { ...identity, wallets: [...wallets] };
    },
  );

  plane.patch(
    '/operator/identities/:identityId',
    {
      schema: { params: identityParamsSchema, body: moveIdentitySchema, response: { 200: identitySchema } },
    },
    async (request) => {
      const { email, reason } = request.body;
      const act = actOf(operator, request, reason);
      const { wallets, ...identity } = granted(await walletOwners.move(act, request.params.identityId, email));
      return { ...identity, wallets: [...wallets] };
    },
  );

  plane.post(
    '/operator/apps/:appId/wallets/:userId/release',
    {
      schema: { params: operatorWalletParamsSchema, body: reasonSchema, response: { 200: operatorWalletSchema } },
    },
    async (request) => {
      const act = actOf(operator, request, request.body.reason);
      return operatorWalletToWire(granted(await walletOwners.release(act, request.params)));
    },
  );
}
