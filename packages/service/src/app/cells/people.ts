import type { CellPeers } from '#app/cells/open-cells.ts';
import { createConnections } from '#connections/connection.ts';
import type { Pool } from '#db/pool/pool.ts';
import { ADDRESS, SESSION, SIGN_OUT, WALLETS } from '#http/cells/wallets/people.ts';
import { createOtherCells, type OtherCells } from '#http/cells/wallets/other-cells.ts';
import { answerCells, type CellRoute } from '#http/cells/questions/question.ts';
import { createHandOvers, type HandOvers } from '#people/hand-over.ts';
import { createPersonSessions } from '#people/session.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';

interface CellPeopleOptions {
  readonly config: { readonly publicUrl: string; readonly currency: string };
  readonly pool: Pool;
  readonly keys: Keys;
  /** The way to other cells. It is undefined if there are none. */
  readonly peers: CellPeers | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the pages of people use of other cells, and what gateways of other cells may ask about people here. */
export interface CellPeople {
  readonly otherCells: (OtherCells & { readonly handOvers: HandOvers }) | undefined;
  readonly cellRoutes: readonly CellRoute[];
}

export function openCellPeople({ config, pool, keys, peers, clock, log }: CellPeopleOptions): CellPeople {
  if (peers === undefined) return { otherCells: undefined, cellRoutes: [] };
  const { publicUrl, currency } = config;
  const { own, requests } = peers;
  const others = createOtherCells({ ...peers, clock, log });
  const connections = createConnections(pool, currency);
  const sessions = createPersonSessions(pool);
  const { isInForce } = others;
  return {
    otherCells: { ...others, handOvers: createHandOvers({ pool, keys, clock, own, isInForce }) },
    cellRoutes: [
      answerCells(requests, ADDRESS, () => Promise.resolve({ publicUrl })),
      answerCells(requests, WALLETS, ({ email }) => connections.listOf(email)),
      answerCells(requests, SESSION, async (signIn) => ({ isInForce: await sessions.isInForce(signIn) })),
      answerCells(requests, SIGN_OUT, async ({ email, sessionId }) => {
        await sessions.endOf(email, sessionId);
        return {};
      }),
    ],
  };
}
