import { isItemFault, isServerFault, isSilence } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { createStuckItems, type DueItems, type StuckItems } from '#db/batches/stuck-items.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** Runs items in batches, one statement at a time. Items that arrive while a statement runs go into the next one. */
export interface Batcher<Item, Result> {
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
  /**
   * It is called after a batch was answered and before the next one. It resolves when the next one need not wait any
   * longer for more items.
   */
  readonly gather?: () => Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly waiter: Waiter<Result>;
  retries: number;
}

const RETRY_DELAY_MS = 100;

/**
 * Creates one channel to the database, with at most one statement under way. There is no timer. An idle channel sends at once,
 * and a busy one lets its next batch grow. So load makes batches larger, and without load no call waits.
 *
 * A failed batch is repeated item by item, so that one stuck row fails only the items that need it. Those are then tried
 * apart, see `stuck-items.ts`: everything else goes on in batches. Without a name of what it needs, an item that may succeed
 * later goes to the end of the queue, so that nothing waits behind it.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const channel = new Channel(options);
  const hand = (item: Item, waiter: Waiter<Result>): void => channel.hand(item, waiter);
  return { hand, submit: (item) => new Promise<Result>((resolve, reject) => hand(item, { resolve, reject })) };
}

class Channel<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  /** Made with the first stuck item, which nearly no channel ever has. */
  #stuck: StuckItems<Waiting<Item, Result>> | undefined;
  #isDraining = false;
  /** Wakes a channel that has only stuck items left. */
  #wake: (() => void) | undefined;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  hand(item: Item, waiter: Waiter<Result>): void {
    const one = { item, waiter, retries: 0 };
    const resource = this.#stuck === undefined ? undefined : this.#options.resourceOf?.(item);
    if (resource !== undefined && this.#stuck?.isStuck(resource) === true) this.#stuck.add(resource, one);
    else this.#waiting.push(one);
    this.#wake?.();
    if (this.#isDraining) return;
    this.#isDraining = true;
    void this.#drain();
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // Items that arrive in the same turn, as from one read of a socket, share a statement.
    while (this.#waiting.length > 0 || this.#stuck?.isEmpty() === false) {
      const due = this.#stuck?.takeDue();
      let isBack = false; // Another statement makes sense only after a pause.
      if (due !== undefined) isBack = await this.#runStuck(due);
      else if (this.#waiting.length === 0) await this.#woken();
      else {
        const batch = this.#waiting.splice(0, this.#options.itemsMax);
        const fault = await this.#faultOf(batch);
        if (fault !== undefined) isBack = await this.#repeat(batch, fault);
        else if (this.#options.gather !== undefined) await this.#options.gather();
      }
      if (isBack) await sleep(RETRY_DELAY_MS);
    }
    this.#isDraining = false; // No await since the last check of the queue, so no item is left behind unseen.
  }

  /** Waits for an item, or for the time of a stuck one. */
  async #woken(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }

  /** Runs one statement for the batch and answers each item, or returns the fault. */
  async #faultOf(batch: readonly Waiting<Item, Result>[]): Promise<unknown> {
    let results: readonly Result[];
    try {
      results = await this.#options.run(batch.map(({ item }) => item));
      assert(results.length === batch.length, 'a batch was answered in part');
    } catch (fault) {
      return fault;
    }
    for (let index = 0; index < batch.length; index += 1) batch[index]?.waiter.resolve(results[index] as Result);
    return undefined;
  }

  /**
   * Deals with a batch that failed. Items cannot cause a fault of the server, so trying them singly would only repeat it. True
   * if something is in the queue again.
   */
  async #repeat(batch: readonly Waiting<Item, Result>[], fault: unknown): Promise<boolean> {
    return batch.length === 1 || isServerFault(fault) ? this.#putBack(batch, fault) : this.#runSingly(batch);
  }

  async #runSingly(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    let isBack = false;
    for (const [index, single] of batch.entries()) {
      const resource = this.#options.resourceOf?.(single.item);
      if (resource !== undefined && this.#stuck?.isStuck(resource) === true) {
        this.#stuck.add(resource, single);
        continue;
      }
      const fault = await this.#faultOf([single]);
      // Nothing can succeed now, and to find that out for each of the others may take seconds each.
      if (isServerFault(fault)) return this.#putBack(batch.slice(index), fault) || isBack;
      if (fault !== undefined && this.#putBack([single], fault)) isBack = true;
    }
    return isBack;
  }

  /** Keeps each item that may still succeed, and rejects the others. True if the queue has one more. */
  #putBack(batch: readonly Waiting<Item, Result>[], fault: unknown): boolean {
    const before = this.#waiting.length;
    for (const one of batch) {
      if (!this.#mayGoOn(one, fault)) continue;
      const resource = isServerFault(fault) ? undefined : this.#options.resourceOf?.(one.item);
      if (resource === undefined) this.#waiting.push(one);
      else (this.#stuck ??= createStuckItems(() => this.#wake?.())).add(resource, one);
    }
    return this.#waiting.length > before;
  }

  /** Returns false, and rejects the item, if it has failed for good. */
  #mayGoOn(one: Waiting<Item, Result>, fault: unknown, retries = 1): boolean {
    one.retries += retries;
    if (one.retries <= retriesAfter(fault, this.#options.retriesMax(one.item))) return true;
    one.waiter.reject(fault);
    return false;
  }

  /**
   * Tries the items of one resource together. If that is still held, they go on waiting. A long pause counts as several
   * retries, so that no caller waits longer because tries become rare.
   */
  async #runStuck({ resource, items, retries }: DueItems<Waiting<Item, Result>>): Promise<boolean> {
    const batch = items.slice(0, this.#options.itemsMax);
    const rest = items.slice(this.#options.itemsMax);
    const fault = await this.#faultOf(batch);
    const isHeld = fault !== undefined && !isServerFault(fault) && !isItemFault(fault);
    if (isHeld) {
      const left = batch.filter((one) => this.#mayGoOn(one, fault, retries));
      this.#stuck?.again(resource, [...left, ...rest]);
      return false;
    }
    this.#waiting.push(...rest, ...(this.#stuck?.release(resource) ?? []));
    return fault === undefined ? false : this.#repeat(batch, fault);
  }
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
