import { createBatcher } from '#db/batches/batcher.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { beginDrains, selectDrainsTaken } from '#ledger/hold/drain-queries.ts';

/** The stream slots of drained calls, which read on after their callers have left (LI-02). A live caller goes first. */
export interface DrainSlots {
  /**
   * Lets a new stream of the same wallet take this call's slot from now on. `onTaken` is called soon after that happens.
   * Returns a function that withdraws the offer; call it when the call has ended.
   */
  readonly offer: (callId: CallId, onTaken: () => void) => () => void;
  readonly stop: () => Promise<void>;
}

interface DrainSlotOptions {
  readonly pool: Pool;
  readonly log: Log;
}

/** The time is short enough that a drain stops within a second of losing its slot. */
const POLL_MS = 500;
const BATCH_MAX = 256;
const OFFER_RETRIES_MAX = 20; // About two seconds. After that the drain keeps its slot.

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
    retriesMax: () => OFFER_RETRIES_MAX,
  });

  async function poll(): Promise<void> {
    try {
      for (const callId of await selectDrainsTaken(pool, [...offered.keys()])) take(callId);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the slots of drained streams could not be read');
    }
  }

  function take(callId: CallId): void {
    const onTaken = offered.get(callId);
    withdraw(callId);
    onTaken?.();
  }

  /** Withdraws an offer. With the last one the polling stops, because there is nothing left to ask the database. */
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
        log.warn(
          { callId, fault: describeFault(fault) },
          'the slot of a drained stream could not be offered: the stream keeps it',
        );
      });
      timer ??= setInterval(() => {
        // Polls never overlap.
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
