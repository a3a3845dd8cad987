import { createBatcher, inOrderOf } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import { createOutageWatch } from '#db/outage.ts';
import type { Pool } from '#db/pool.ts';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '#kernel/hold.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '#sandbox/queries.ts';
import type { SandboxSettlement } from '#sandbox/settlement.ts';

/** The holds of fake wallets: same outcomes as real ones, none of their money. */
export interface SandboxHolds {
  /** Sets fake money aside; a user's first call makes the wallet with its grant (SB-01). */
  readonly place: (request: HoldRequest) => Promise<HoldAnswer>;
  /** Ends a call, once. In an outage of the database it answers at once and goes on trying: nothing is kept on disk. */
  readonly settle: (settlement: SandboxSettlement, granted: Micros) => Promise<SettledSandboxCall>;
}

interface SettledSandboxCall {
  readonly charged: Micros;
  /** Nothing has ended: a retry waits for the answer, which must be kept first. Only of `isUnkept` settlements. */
  readonly isJoined?: true;
}

interface SandboxPools {
  readonly reserve: Pool;
  readonly settle: Pool;
}

const BATCH_MAX = 256;
const PLACE_RETRIES_MAX = 5; // Half a second without a database; then the caller hears of it.

export function createSandboxHolds(pools: SandboxPools, instance: Instance, grant: Micros): SandboxHolds {
  const placing = createBatcher<HoldRequest, HoldAnswer>({
    run: async (requests) => {
      const rows = await instance.run((id) => reserveSandboxHolds(pools.reserve, id, grant, requests));
      return inOrderOf(requests, rows).map(holdAnswerOf);
    },
    itemsMax: BATCH_MAX,
    retriesMax: PLACE_RETRIES_MAX,
  });
  const outage = createOutageWatch();
  const settling = createBatcher<SandboxSettlement, SettledSandboxCall>({
    run: async (settlements) => {
      const rows = inOrderOf(settlements, await outage.run(() => settleSandboxHolds(pools.settle, settlements)));
      return rows.map(({ charged, is_joined: isJoined }) => {
        return { charged: microsFromRow(charged), ...(isJoined && { isJoined }) };
      });
    },
    itemsMax: BATCH_MAX,
    retriesMax: Number.POSITIVE_INFINITY,
  });
  return {
    place: placing.submit,
    settle: (settlement, granted) =>
      outage.orLate(
        (waiter) => settling.hand(settlement, waiter),
        async (landing) => {
          // Only the process can lose it now, and then its fake hold is reaped. A retry that waits for the answer runs anew.
          landing
            .then(({ isJoined }) =>
              isJoined === true ? settling.submit({ ...settlement, isUnkept: false }) : undefined,
            )
            .catch(() => undefined);
          return { charged: settlement.charge < granted ? settlement.charge : granted };
        },
      ),
  };
}
