import { isItemFault, isServerFault, isSilence } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';
import { sleep } from '#kernel/sleep.ts';

/** Runs items in batches, one statement at a time. Items that arrive while a statement runs go into the next one. */
interface Batcher<Item, Result> {
  /** Runs `item` in the next batch. Rejects with the fault of the statement once the retries are used up. */
  readonly submit: (item: Item) => Promise<Result>;
  /**
   * Does the same, but calls the waiter, which must not throw. For the hot path: a caller that makes its own promise then
   * needs no second one.
   */
  readonly hand: (item: Item, waiter: Waiter<Result>) => void;
}

/** Exactly one of the two is called, once. */
export interface Waiter<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (fault: unknown) => void;
}

interface BatcherOptions<Item, Result> {
  /**
   * Runs one statement for all items and answers each, in their order. It must be safe to repeat, because an answer may be
   * lost after the statement was committed.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items in one statement. */
  readonly itemsMax: number;
  /**
   * How often an item is tried again, a tenth of a second apart. An item that is itself at fault is not tried again. If the
   * server was silent for seconds, only items with unlimited retries are: the callers of the others have waited enough.
   */
  readonly retriesMax: (item: Item) => number;
  /**
   * Names what an item needs for itself, such as its wallet. If one item is stuck on it, the others that need it are not
   * tried one by one, because each would wait for the same lock.
   */
  readonly resourceOf?: (item: Item) => string | undefined;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly waiter: Waiter<Result>;
  retries: number;
}

const RETRY_DELAY_MS = 100;

/**
 * Creates one lane to the database, with at most one statement under way. There is no timer. An idle lane sends at once,
 * and a busy one lets its next batch grow. So load makes batches larger, and without load no call waits.
 *
 * A failed batch is repeated item by item, so that one stuck row fails only the items that need it. Those share one wait for
 * the row, so the other items wait once and not once for each of them. An item that may succeed later goes to the end of
 * the queue, so that nothing waits behind it.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isDraining = false;

  /** Runs one statement for the batch and answers each item, or returns the fault. */
  async function faultOf(batch: readonly Waiting<Item, Result>[]): Promise<unknown> {
    let results: readonly Result[];
    try {
      results = await options.run(batch.map(({ item }) => item));
      assert(results.length === batch.length, 'a batch was answered in part');
    } catch (fault) {
      return fault;
    }
    for (let index = 0; index < batch.length; index += 1) batch[index]?.waiter.resolve(results[index] as Result);
    return undefined;
  }

  /** True if something was put back, so that another try makes sense only after a pause. */
  async function runAll(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    const fault = await faultOf(batch);
    if (fault === undefined) return false;
    // Items cannot cause a fault of the server, so trying them singly would only repeat it.
    return batch.length === 1 || isServerFault(fault) ? putBack(batch, fault) : runSingly(batch);
  }

  async function runSingly(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    const stuck = new Map<string, unknown>();
    let isStuck = false;
    for (const single of batch) {
      const resource = options.resourceOf?.(single.item);
      const fault = stuck.get(resource ?? '') ?? (await faultOf([single]));
      if (fault === undefined || !putBack([single], fault)) continue;
      isStuck = true;
      if (resource !== undefined) stuck.set(resource, fault);
    }
    return isStuck;
  }

  /** Queues each item again that may still succeed, and rejects the others. True if the fault may pass. */
  function putBack(batch: readonly Waiting<Item, Result>[], fault: unknown): boolean {
    let mayPass = false;
    for (const one of batch) {
      one.retries += 1;
      const retriesMax = retriesAfter(fault, options.retriesMax(one.item));
      mayPass ||= retriesMax > 0;
      if (one.retries <= retriesMax) waiting.push(one);
      else one.waiter.reject(fault);
    }
    return mayPass;
  }

  async function drain(): Promise<void> {
    await Promise.resolve(); // Items that arrive in the same turn, as from one read of a socket, share a statement.
    while (waiting.length > 0) {
      const batch = waiting.splice(0, options.itemsMax);
      const isStuck = await runAll(batch);
      if (isStuck) await sleep(RETRY_DELAY_MS);
    }
    isDraining = false; // No await since the last check of the queue, so no item is left behind unseen.
  }

  function hand(item: Item, waiter: Waiter<Result>): void {
    waiting.push({ item, waiter, retries: 0 });
    if (isDraining) return;
    isDraining = true;
    void drain();
  }

  return { hand, submit: (item) => new Promise<Result>((resolve, reject) => hand(item, { resolve, reject })) };
}

/** How many retries make sense after a fault. */
function retriesAfter(fault: unknown, retriesMax: number): number {
  return isItemFault(fault) || (isSilence(fault) && Number.isFinite(retriesMax)) ? 0 : retriesMax;
}

/** Returns the row of each item, by call id. A statement answers each item once, but in any order. */
export function inOrderOf<Row extends { readonly call_id: CallId }>(
  items: readonly { readonly callId: CallId }[],
  rows: readonly Row[],
): readonly Row[] {
  // Most batches come back in order. A map would have to hash every new id first.
  if (rows.length === items.length && rows.every((row, index) => row.call_id === items[index]?.callId)) return rows;
  const byCall = new Map(rows.map((row) => [row.call_id, row]));
  assert(byCall.size === items.length, 'a batch holds each call once and answers each');
  return items.map(({ callId }) => {
    const row = byCall.get(callId);
    assert(row !== undefined, 'each call is answered');
    return row;
  });
}
