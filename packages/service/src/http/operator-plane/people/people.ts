import { Readable } from 'node:stream';
import type { z } from 'zod';
import {
  identityParamsSchema,
  personActSchema,
  personDeleteSchema,
  personDeletedSchema,
  personExportSchema,
  personHoldingsSchema,
} from '@purser/contract/operator-people.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { isoOf } from '#kernel/time/clock.ts';
import { micros, microsToWire } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { Agreed, PersonWallet } from '#privacy/deletion.ts';

/** Routes that export and delete people who own wallets (CP-12). */
export function addPeopleRoutes(plane: Plane, operator: OperatorPlane): void {
  const { privacy } = operator;

  plane.get(
    '/operator/identities/:identityId',
    { schema: { params: identityParamsSchema, response: { 200: personHoldingsSchema } } },
    async ({ params }) => {
      const found = await privacy.holdings(params.identityId);
      const { wallets, obstacles, moves, rests, ...person } = granted(
        found ?? refuse('NOT_FOUND', 'There is no such identity.'),
      );
      return {
        ...person,
        moves: moves.map(({ at, ...emails }) => ({ ...emails, at: isoOf(at.getTime()) })),
        wallets: wallets.map(({ balance, ...wallet }) => ({ ...wallet, balanceMicros: microsToWire(balance) })),
        rests: rests.map(restToWire),
        obstacles: obstacles.map(({ kind, wallet }) => ({
          kind,
          appId: wallet?.appId ?? null,
          userId: wallet?.userId ?? null,
        })),
      };
    },
  );

  plane.post(
    '/operator/identities/:identityId/export',
    { schema: { params: identityParamsSchema, body: personActSchema, response: { 200: personExportSchema } } },
    async (request, reply) => {
      const act = actOf(operator, request, request.body.reason);
      const pieces = granted(await privacy.exportFor(act, request.params.identityId));
      reply.header('content-type', 'application/json; charset=utf-8');
      // A stream is sent as it is, without the schema. A test reads the whole file by the schema.
      return reply.send(Readable.from(pieces) as unknown as z.output<typeof personExportSchema>);
    },
  );

  plane.post(
    '/operator/identities/:identityId/delete',
    { schema: { params: identityParamsSchema, body: personDeleteSchema, response: { 200: personDeletedSchema } } },
    async (request) => {
      const { reason, givesUp = [] } = request.body;
      const act = actOf(operator, request, reason);
      const agreed: Agreed = ({ appId, userId }) => {
        const found = givesUp.find((one) => one.appId === appId && one.userId === userId);
        return found && micros(BigInt(found.amountMicros));
      };
      const { identityId, wallets, rests } = granted(await privacy.deleteFor(act, request.params.identityId, agreed));
      return { identityId, wallets: wallets.length, givenUp: rests.map(restToWire) };
    },
  );
}

function restToWire({ appId, userId, balance, currency }: PersonWallet) {
  return { appId, userId, amountMicros: microsToWire(balance), currency };
}
