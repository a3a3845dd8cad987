import { createBatcher, inOrderOf } from '#db/batcher.ts';
import type { Instance } from '#db/instance.ts';
import { type Pool, STATEMENT_TIMEOUT_MS } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { HoldAnswer, HoldRequest } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow, ZERO_MICROS } from '#kernel/micros.ts';
import { reserveHolds, settleHolds } from '#ledger/queries.ts';
import type { Settlement } from '#ledger/settlement.ts';

/** What a call was charged, now or when it ended earlier. 0 when its hold had been released. */
interface SettledCall {
  readonly charged: Micros;
}

/** The holds of real wallets: two lanes of batched statements, safe to repeat after a lost connection. */
export interface Holds {
  /** Sets money aside. Throws a connection fault, having set nothing aside, when the database stays out of reach. */
  readonly place: (request: HoldRequest) => Promise<HoldAnswer>;
  /** Ends a call, once: captures its charge, frees the rest, keeps its receipt. Waits out an outage of the database. */
  readonly settle: (settlement: Settlement) => Promise<SettledCall>;
}

interface HoldPools {
  readonly reserve: Pool;
  readonly settle: Pool;
}

const BATCH_MAX = 256;
const PLACE_RETRIES_MAX = 5; // Half a second without a database; then the caller hears of it.

export function createHolds(pools: HoldPools, instance: Instance, log: Log): Holds {
  const placing = createBatcher<HoldRequest, HoldAnswer>({
    run: (requests) => placeAll(pools.reserve, instance, requests),
    itemsMax: BATCH_MAX,
    retriesMax: PLACE_RETRIES_MAX,
  });
  const settling = createBatcher<Settlement, SettledCall>({
    run: (settlements) => settleAll(pools.settle, settlements),
    itemsMax: BATCH_MAX,
    retriesMax: Number.POSITIVE_INFINITY,
  });

  /** The statement may have run all the same, or may still: its hold is released once it can no longer appear. */
  function releaseLater(callId: CallId): void {
    setTimeout(() => {
      settling.submit(released(callId)).catch((fault: unknown) => {
        log.error({ fault: describeFault(fault), callId }, 'a hold in doubt could not be released');
      });
    }, 2 * STATEMENT_TIMEOUT_MS).unref();
  }

  return {
    place: async (request) => {
      assert(request.least > 0n && request.least <= request.most, 'a hold has a positive range');
      try {
        return await placing.submit(request);
      } catch (fault) {
        releaseLater(request.callId); // Whatever came last: an answer before it may have been lost.
        throw fault;
      }
    },
    settle: async (settlement) => {
      try {
        return await settling.submit(settlement);
      } catch (fault) {
        // The settlement itself cannot be stored: a bug. The user at least gets the hold back.
        log.error({ fault: describeFault(fault), callId: settlement.callId }, 'a call could not be settled: released');
        await settling.submit(released(settlement.callId)).catch(() => undefined);
        throw fault;
      }
    },
  };
}

async function placeAll(
  pool: Pool,
  instance: Instance,
  requests: readonly HoldRequest[],
): Promise<readonly HoldAnswer[]> {
  const rows = await instance.run((instanceId) => reserveHolds(pool, instanceId, requests));
  const answers = inOrderOf(requests, rows);
  return answers.map(({ outcome, granted }) => {
    assert(outcome !== 'call_ended', 'a call that has ended asks for no hold');
    return { outcome, granted: microsFromRow(granted) };
  });
}

async function settleAll(pool: Pool, settlements: readonly Settlement[]): Promise<readonly SettledCall[]> {
  const rows = inOrderOf(settlements, await settleHolds(pool, settlements));
  return rows.map(({ charged }) => ({ charged: microsFromRow(charged) }));
}

function released(callId: CallId): Settlement {
  return {
    callId,
    charge: ZERO_MICROS,
    outcome: 'failed',
    model: undefined,
    priceId: undefined,
    isEstimated: false,
    isUsageClamped: false,
    usage: { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
    correlationId: undefined,
  };
}
