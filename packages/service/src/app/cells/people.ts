import type { Ground } from '#app/process/ground.ts';
import { createConnections } from '#connections/connection.ts';
import { ADDRESS, SESSION, SIGN_OUT, WALLETS } from '#http/cells/wallets/people.ts';
import { createOtherCells, type OtherCells } from '#http/cells/wallets/other-cells.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { createHandOvers, type HandOvers } from '#people/hand-over.ts';
import { createPersonSessions } from '#people/session.ts';

/** What the pages of people use of other cells, and what gateways of other cells may ask about people here. */
export interface CellPeople {
  readonly otherCells: (OtherCells & { readonly handOvers: HandOvers }) | undefined;
  readonly cellRoutes: readonly CellRoute[];
}

export function openCellPeople(ground: Ground, peers: CellPeers | undefined): CellPeople {
  if (peers === undefined) return { otherCells: undefined, cellRoutes: [] };
  const { keys, clock, log } = ground;
  const { publicUrl, currency } = ground.config;
  const pool = ground.pools.planes;
  const { own, answer } = peers;
  const others = createOtherCells({ ...peers, clock, log });
  const connections = createConnections(pool, currency);
  const sessions = createPersonSessions(pool);
  const { isInForce } = others;
  return {
    otherCells: { ...others, handOvers: createHandOvers({ pool, keys, clock, own, isInForce }) },
    cellRoutes: [
      answer(ADDRESS, () => Promise.resolve({ publicUrl })),
      answer(WALLETS, ({ email }) => connections.listOf(email)),
      answer(SESSION, async (signIn) => ({ isInForce: await sessions.isInForce(signIn) })),
      answer(SIGN_OUT, async ({ email, sessionId }) => {
        await sessions.endOf(email, sessionId);
        return {};
      }),
    ],
  };
}
