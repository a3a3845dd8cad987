import { createBatcher, inOrderOf } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import { createOutageWatch } from '#db/outage.ts';
import type { Pool } from '#db/pool.ts';
import type { HoldAnswer, HoldRequest } from '#kernel/hold.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '#sandbox/queries.ts';
import type { SandboxSettlement } from '#sandbox/settlement.ts';

/** The holds of fake wallets: same outcomes as real ones, none of their money. */
export interface SandboxHolds {
  /** Sets fake money aside; a user's first call makes the wallet with its grant (SB-01). */
  readonly place: (request: HoldRequest) => Promise<HoldAnswer>;
  /** Ends a call, once. In an outage of the database it answers at once and goes on trying: nothing is kept on disk. */
  readonly settle: (settlement: SandboxSettlement, granted: Micros) => Promise<{ readonly charged: Micros }>;
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
      const answers = inOrderOf(requests, rows);
      return answers.map(({ outcome, granted }) => ({ outcome, granted: microsFromRow(granted) }));
    },
    itemsMax: BATCH_MAX,
    retriesMax: PLACE_RETRIES_MAX,
  });
  const outage = createOutageWatch();
  const settling = createBatcher<SandboxSettlement, { readonly charged: Micros }>({
    run: async (settlements) => {
      const rows = inOrderOf(settlements, await outage.run(() => settleSandboxHolds(pools.settle, settlements)));
      return rows.map(({ charged }) => ({ charged: microsFromRow(charged) }));
    },
    itemsMax: BATCH_MAX,
    retriesMax: Number.POSITIVE_INFINITY,
  });
  return {
    place: placing.submit,
    settle: async (settlement, granted) => {
      const landing = settling.submit(settlement);
      if (await outage.isInTime(landing)) return landing;
      landing.catch(() => undefined); // Only the process can lose it now, and then its fake hold is reaped.
      return { charged: settlement.charge < granted ? settlement.charge : granted };
    },
  };
}
