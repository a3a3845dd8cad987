import { isItemFault, isServerFault, isSilence } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';
import { sleep } from '#kernel/sleep.ts';

/** Statements that gather for each other: what comes while one runs goes in the next. */
export interface Batcher<Item, Result> {
  /** Runs `item` in the next batch. Rejects with the statement's fault, see `BatcherOptions`. */
  readonly submit: (item: Item) => Promise<Result>;
  /** The same, and tells the waiter, which must not throw: for those who make a promise of their own, so that there is one. */
  readonly hand: (item: Item, waiter: Waiter<Result>) => void;
}

/** Told once, of one of them. */
export interface Waiter<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (fault: unknown) => void;
}

interface BatcherOptions<Item, Result> {
  /** Runs one statement for all items and answers each, in their order. Must be safe to repeat. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Most items in one statement. */
  readonly itemsMax: number;
  /**
   * How often an item is tried again, a tenth of a second apart, unless the fault lies in the item itself. A server that
   * was silent for seconds is asked again only for those who wait without end.
   */
  readonly retriesMax: number;
  /** What an item needs alone, such as its wallet: while one is stuck on it, others that need it are not tried either. */
  readonly resourceOf?: (item: Item) => string;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly waiter: Waiter<Result>;
  retries: number;
}

const RETRY_DELAY_MS = 100;

/**
 * One lane to the database with at most one statement under way. No timer: an idle lane sends at once, a busy one lets
 * its next batch grow, so that load makes batches larger and no call waits without it. A batch that fails is repeated
 * item by item, so that one stuck row fails only those that want it, and keeps the others waiting once and not once for
 * each of those; an item that may succeed later goes to the end of the queue, so that nothing waits behind it.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isDraining = false;

  /** Runs one statement for all and answers each, or gives the fault. */
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

  /** True when something was put back, so that trying again at once makes no sense. */
  async function runAll(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    const fault = await faultOf(batch);
    if (fault === undefined) return false;
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

  function putBack(batch: readonly Waiting<Item, Result>[], fault: unknown): boolean {
    const isTooLate = isSilence(fault) && Number.isFinite(options.retriesMax);
    const mayPass = !isItemFault(fault) && !isTooLate;
    for (const one of batch) {
      one.retries += 1;
      if (mayPass && one.retries <= options.retriesMax) waiting.push(one);
      else one.waiter.reject(fault);
    }
    return mayPass;
  }

  async function drain(): Promise<void> {
    await Promise.resolve(); // What arrives in the same turn, as from one read of a socket, shares a statement.
    while (waiting.length > 0) {
      const batch = waiting.splice(0, options.itemsMax);
      const isStuck = await runAll(batch);
      if (isStuck) await sleep(RETRY_DELAY_MS);
    }
    isDraining = false; // In the same turn as the last look at the queue: what comes later starts anew.
  }

  function hand(item: Item, waiter: Waiter<Result>): void {
    waiting.push({ item, waiter, retries: 0 });
    if (isDraining) return;
    isDraining = true;
    void drain();
  }

  return { hand, submit: (item) => new Promise<Result>((resolve, reject) => hand(item, { resolve, reject })) };
}

/** The row of each item, by call id: statements answer in an order of their own, and every item once. */
export function inOrderOf<Row extends { readonly call_id: CallId }>(
  items: readonly { readonly callId: CallId }[],
  rows: readonly Row[],
): readonly Row[] {
  // Most batches come in order. Looked up, each new id would first become one of the program's own strings.
  if (rows.length === items.length && rows.every((row, index) => row.call_id === items[index]?.callId)) return rows;
  const byCall = new Map(rows.map((row) => [row.call_id, row]));
  assert(byCall.size === items.length, 'a batch holds each call once and answers each');
  return items.map(({ callId }) => {
    const row = byCall.get(callId);
    assert(row !== undefined, 'each call is answered');
    return row;
  });
}
