import { Readable } from 'node:stream';
import { PEOPLE_ROUTES } from '@purser/contract/operator-people.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { Agreed, PersonWallet } from '#privacy/deletion.ts';
import { shownWallet } from '#http/operator-plane/money/wallets.ts';

/**
 * Routes that find a person who owns wallets, export and delete them (CP-12), and for people who have lost their mailbox, move them to
 * another e-mail or release a wallet (WA-15).
 */
export function addPeopleRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { privacy, walletOwners } = operator;
  const add = routes(PEOPLE_ROUTES);

  add(
    'GET /operator/identities',
    async ({ query }) =>
      (await walletOwners.find(query.email)) ?? refuse('NOT_FOUND', 'Nobody signs in with this e-mail.'),
  );

  add('PATCH /operator/identities/{identityId}', ({ act, params, body }) =>
    walletOwners.move(act, params.identityId, body.email),
  );

  add('POST /operator/apps/{appId}/wallets/{userId}/release', async ({ act, params }) =>
    shownWallet(granted(await walletOwners.release(act, params))),
  );

  add('GET /operator/identities/{identityId}', async ({ params }) => {
    const found = await privacy.holdings(params.identityId);
    const person = granted(found ?? refuse('NOT_FOUND', 'There is no such identity.'));
    const obstacles = person.obstacles.map(({ kind, wallet }) => ({
      kind,
      appId: wallet?.appId,
      userId: wallet?.userId,
    }));
    return { ...person, rests: person.rests.map(shownRest), obstacles };
  });

  add('POST /operator/identities/{identityId}/export', async ({ act, params, reply }) => {
    const pieces = granted(await privacy.exportFor(act, params.identityId));
    // A stream is sent as it is, without the schema. A test reads the whole file by the schema.
    return reply.header('content-type', 'application/json; charset=utf-8').send(Readable.from(pieces));
  });

  add('POST /operator/identities/{identityId}/delete', async ({ act, params, body: { givesUp = [] } }) => {
    const agreed: Agreed = ({ appId, userId }) =>
      sentAmount(givesUp.find((one) => one.appId === appId && one.userId === userId)?.amountMicros);
    const { identityId, wallets, rests } = granted(await privacy.deleteFor(act, params.identityId, agreed));
    return { identityId, wallets: wallets.length, givenUp: rests.map(shownRest) };
  });
}

function shownRest({ balance: amount, ...rest }: PersonWallet) {
  return { ...rest, amount };
}
