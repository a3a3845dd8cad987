import { createBatcher } from '#db/batcher.ts';
import type { Pool } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { beginDrains, selectDrainsTaken } from '#ledger/hold/drain-queries.ts';

/** Stream slots of calls that are read on although their callers have left (LI-02). */
export interface DrainSlots {
  /**
   * From now on a new stream of the same wallet may have the slot of this one; `onTaken` is called soon after one has
   * taken it. Call what this gives when the call has ended.
   */
  readonly offer: (callId: CallId, onTaken: () => void) => () => void;
  readonly stop: () => Promise<void>;
}

interface DrainSlotOptions {
  readonly pool: Pool;
  readonly log: Log;
}

/** So that whoever gave up its slot stops within a second. */
const POLL_MS = 500;
const BATCH_MAX = 256;
const OFFER_RETRIES_MAX = 20;

export function createDrainSlots({ pool, log }: DrainSlotOptions): DrainSlots {
  const offered = new Map<CallId, () => void>();
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;
  const offering = createBatcher<CallId, void>({
    run: async (calls) => {
      await beginDrains(pool, calls);
      return calls.map(() => undefined);
    },
    itemsMax: BATCH_MAX,
    retriesMax: OFFER_RETRIES_MAX,
  });

  async function poll(): Promise<void> {
    try {
      for (const callId of await selectDrainsTaken(pool, [...offered.keys()])) take(callId);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'drains could not be looked up');
    }
  }

  function take(callId: CallId): void {
    const onTaken = offered.get(callId);
    withdraw(callId);
    onTaken?.();
  }

  /** Looks only while there is something to look for. */
  function withdraw(callId: CallId): void {
    offered.delete(callId);
    if (offered.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    offer: (callId, onTaken) => {
      offered.set(callId, onTaken);
      offering.submit(callId).catch((fault: unknown) => {
        log.warn({ callId, fault: describeFault(fault) }, 'a drain keeps its slot: it could not be offered');
      });
      timer ??= setInterval(() => {
        polling ??= poll().finally(() => {
          polling = undefined;
        });
      }, POLL_MS);
      return () => withdraw(callId);
    },
    stop: async () => {
      clearInterval(timer);
      await polling;
    },
  };
}
