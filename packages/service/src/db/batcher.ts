import { isConnectionFault, sqlStateOf } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';

/** Statements that gather for each other: what comes while one runs goes in the next. */
interface Batcher<Item, Result> {
  /** Runs `item` in the next batch. Rejects with the statement's fault, see `BatcherOptions`. */
  readonly submit: (item: Item) => Promise<Result>;
  /** Items that wait or run. */
  readonly size: () => number;
}

interface BatcherOptions<Item, Result> {
  /** Runs one statement for all items and answers each, in their order. Must be safe to repeat. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Most items in one statement. */
  readonly itemsMax: number;
  /** How often an item is tried again, a tenth of a second apart, while the database is out of reach or a row is locked. */
  readonly retriesMax: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (fault: unknown) => void;
  retries: number;
}

const RETRY_DELAY_MS = 100;
/** Lock not available, deadlock detected, serialization failure, statement cancelled by its timeout. */
const CONFLICT_STATES = new Set(['55P03', '40P01', '40001', '57014']);

/**
 * One lane to the database with at most one statement under way. No timer: an idle lane sends at once, a busy one lets
 * its next batch grow, so that load makes batches larger and no call waits without it. A batch that fails is repeated
 * item by item, so that one stuck row fails only those that want it; an item that may succeed later goes to the end of
 * the queue, so that nothing waits behind it.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let draining: Promise<void> | undefined;

  /** True when something was put back, so that trying again at once makes no sense. */
  async function runAll(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    try {
      const results = await options.run(batch.map(({ item }) => item));
      assert(results.length === batch.length, 'a batch was answered in part');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      return false;
    } catch (fault) {
      return isConnectionFault(fault) || batch.length === 1 ? putBack(batch, fault) : runSingly(batch);
    }
  }

  async function runSingly(batch: readonly Waiting<Item, Result>[]): Promise<boolean> {
    let isStuck = false;
    for (const single of batch) isStuck = (await runAll([single])) || isStuck;
    return isStuck;
  }

  function putBack(batch: readonly Waiting<Item, Result>[], fault: unknown): boolean {
    const mayPass = isConnectionFault(fault) || CONFLICT_STATES.has(sqlStateOf(fault) ?? '');
    for (const one of batch) {
      one.retries += 1;
      if (mayPass && one.retries <= options.retriesMax) waiting.push(one);
      else one.reject(fault);
    }
    return mayPass;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, options.itemsMax);
      running = batch.length;
      const isStuck = await runAll(batch);
      running = 0;
      if (isStuck) await sleep(RETRY_DELAY_MS);
    }
  }

  return {
    submit: (item) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject, retries: 0 });
        // After the current turn, so that calls that arrive in one read of the socket share a statement.
        draining ??= Promise.resolve()
          .then(drain)
          .finally(() => {
            draining = undefined;
          });
      }),
    size: () => waiting.length + running,
  };
}

/** The row of each item, by call id: statements answer in an order of their own, and every item once. */
export function inOrderOf<Row extends { readonly call_id: CallId }>(
  items: readonly { readonly callId: CallId }[],
  rows: readonly Row[],
): readonly Row[] {
  const byCall = new Map(rows.map((row) => [row.call_id, row]));
  assert(byCall.size === items.length, 'a batch holds each call once and answers each');
  return items.map(({ callId }) => {
    const row = byCall.get(callId);
    assert(row !== undefined, 'each call is answered');
    return row;
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
