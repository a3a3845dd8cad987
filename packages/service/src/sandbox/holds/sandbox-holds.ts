import { createBatcher, inOrderOf } from '#db/batches/batcher.ts';
import type { Instance } from '#db/processes/instance.ts';
import { createOutageWatch } from '#db/batches/outage.ts';
import type { Pool } from '#db/pool/pool.ts';
import { assert, assertionFault } from '#kernel/faults/assert.ts';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '#kernel/calls/hold.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '#sandbox/holds/queries.ts';
import type { SandboxSettlement } from '#sandbox/holds/settlement.ts';

/** Holds in sandbox wallets. They behave like live holds but move play money, so they need no ledger and no spool. */
export interface SandboxHolds {
  /** Sets play money aside. A user's first call creates the wallet with its grant (SB-01). */
  readonly place: (request: HoldRequest) => Promise<SandboxHoldAnswer>;
  /**
   * Ends a call; a second time changes nothing. During a database outage it answers at once and keeps trying in memory.
   * Nothing is written to disk: play money is not worth it.
   */
  readonly settle: (settlement: SandboxSettlement, granted: Micros) => Promise<SettledSandboxCall>;
}

/** The field `plays` holds the outcome that this call took with its hold (decision 19). */
type SandboxHoldAnswer = HoldAnswer & { readonly plays?: string };

interface SettledSandboxCall {
  readonly charged: Micros;
  /** The call has not ended: a retry waits for its answer, which must be kept first. Only for `isUnkept` settlements. */
  readonly isJoined?: true;
}

interface SandboxPools {
  readonly reserve: Pool;
  readonly settle: Pool;
}

const BATCH_MAX = 256;
const PLACE_RETRIES_MAX = 5; // About half a second without a database. Then the caller gets the fault.

/** Creates the holds. Calls are batched: one statement places or ends up to 256 of them. */
export function createSandboxHolds(pools: SandboxPools, instance: Instance, grant: Micros): SandboxHolds {
  const placing = createBatcher<HoldRequest, SandboxHoldAnswer>({
    run: async (requests) => {
      const rows = await instance.run((id) => reserveSandboxHolds(pools.reserve, id, grant, requests));
      return inOrderOf(requests, rows).map((row, index) => ({
        ...holdAnswerOf(row, requests[index]),
        ...(row.plays !== null && { plays: row.plays }),
      }));
    },
    itemsMax: BATCH_MAX,
    retriesMax: () => PLACE_RETRIES_MAX,
  });
  // Settling has no retry limit: a call that was answered must end. Only the process's own death can lose a settlement.
  const outage = createOutageWatch();
  const settling = createBatcher<SandboxSettlement, SettledSandboxCall>({
    run: async (settlements) => {
      const rows = inOrderOf(settlements, await outage.run(() => settleSandboxHolds(pools.settle, settlements)));
      return rows.map(({ charged, is_joined: isJoined }, index) => {
        assert(charged <= (settlements[index]?.charge ?? 0n), 'a call is charged at most what its settlement says');
        return { charged: microsFromRow(charged), ...(isJoined && { isJoined }) };
      });
    },
    itemsMax: BATCH_MAX,
    retriesMax: () => Number.POSITIVE_INFINITY,
  });
  return {
    place: (request) =>
      request.least > 0n && request.least <= request.most
        ? placing.submit(request)
        : Promise.reject(assertionFault('a hold has a positive range')),
    settle: (settlement, granted) =>
      outage.orLate(
        (waiter) => settling.hand(settlement, waiter),
        async (landing) => {
          // From here only the death of this process can lose the settlement. Then the hold is reaped, and a retry that waits
          // for the answer makes a new call.
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
