import { Readable } from 'node:stream';
import {
  identityParamsSchema,
  personActSchema,
  personDeleteSchema,
  personDeletedSchema,
  personExportSchema,
  personHoldingsSchema,
} from '@purser/contract/operator-people.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { Agreed, PersonWallet } from '#privacy/deletion.ts';

/** Routes that export and delete people who own wallets (CP-12). */
export function addPeopleRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { privacy } = operator;

  routes.show(
    '/operator/identities/:identityId',
    { params: identityParamsSchema, answer: personHoldingsSchema },
    async ({ params }) => {
      const found = await privacy.holdings(params.identityId);
      const person = granted(found ?? refuse('NOT_FOUND', 'There is no such identity.'));
      const obstacles = person.obstacles.map(({ kind, wallet }) => ({
        kind,
        appId: wallet?.appId,
        userId: wallet?.userId,
      }));
      return { ...person, rests: person.rests.map(shownRest), obstacles };
    },
  );

  routes.act(
    'POST /operator/identities/:identityId/export',
    { params: identityParamsSchema, body: personActSchema, answer: personExportSchema },
    async (act, { params, reply }) => {
      const pieces = granted(await privacy.exportFor(act, params.identityId));
      // A stream is sent as it is, without the schema. A test reads the whole file by the schema.
      return reply.header('content-type', 'application/json; charset=utf-8').send(Readable.from(pieces));
    },
  );

  routes.act(
    'POST /operator/identities/:identityId/delete',
    { params: identityParamsSchema, body: personDeleteSchema, answer: personDeletedSchema },
    async (act, { params, body: { givesUp = [] } }) => {
      const agreed: Agreed = ({ appId, userId }) =>
        sentAmount(givesUp.find((one) => one.appId === appId && one.userId === userId)?.amountMicros);
      const { identityId, wallets, rests } = granted(await privacy.deleteFor(act, params.identityId, agreed));
      return { identityId, wallets: wallets.length, givenUp: rests.map(shownRest) };
    },
  );
}

function shownRest({ balance: amount, ...rest }: PersonWallet) {
  return { ...rest, amount };
}
