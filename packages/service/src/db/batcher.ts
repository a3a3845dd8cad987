import { isConnectionFault, sqlStateOf } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import type { CallId } from '#kernel/ids.ts';

/** Statements that gather for each other: what comes while one runs goes in the next. */
export interface Batcher<Item, Result> {
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
  /** How long to go on trying while the database is out of reach; `Infinity` for what must not be dropped. */
  readonly outageMsMax: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (fault: unknown) => void;
}

const RETRY_DELAY_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';
const CONFLICT_ATTEMPTS_MAX = 5;

/**
 * One lane to the database with at most one statement under way. No timer: an idle lane sends at once, a busy one lets
 * its next batch grow, so that load makes batches larger and no call waits without it. A batch that fails for one of
 * its items is repeated item by item, so that one stuck row fails only those that want it.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;

  async function runAll(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await repeat(
        options,
        batch.map(({ item }) => item),
      );
      assert(results.length === batch.length, 'a batch was answered in part');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (fault) {
      if (batch.length === 1 || isConnectionFault(fault)) {
        for (const { reject } of batch) reject(fault);
        return;
      }
      for (const single of batch) await runAll([single]);
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, options.itemsMax);
      running = batch.length;
      await runAll(batch);
      running = 0;
    }
  }

  let draining: Promise<void> | undefined;
  return {
    submit: (item) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
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

/** Runs a statement until it is answered: through an outage as long as allowed, through lock conflicts a few times. */
async function repeat<Item, Result>(
  options: BatcherOptions<Item, Result>,
  items: readonly Item[],
): Promise<readonly Result[]> {
  let outageMs = 0;
  for (let conflicts = 0; ; ) {
    try {
      return await options.run(items);
    } catch (fault) {
      if (isConnectionFault(fault)) {
        if (outageMs >= options.outageMsMax) throw fault;
        outageMs += RETRY_DELAY_MS;
      } else {
        conflicts += 1;
        if (!isConflict(fault) || items.length > 1 || conflicts >= CONFLICT_ATTEMPTS_MAX) throw fault;
      }
      await sleep(RETRY_DELAY_MS);
    }
  }
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

function isConflict(fault: unknown): boolean {
  const state = sqlStateOf(fault);
  return state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED || state === SERIALIZATION_FAILURE;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
