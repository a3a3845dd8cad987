import { createBatcher } from '#db/batches/batcher.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { HoldRequest } from '#kernel/calls/hold.ts';
import { assert } from '#kernel/faults/assert.ts';
import { takeTurn, type Turn, type TurnRows } from '#ledger/turn/queries.ts';

/**
 * Takes the turns of one process: ends calls and places holds under its instance. Answers after the commit. Safe to repeat.
 * Rejects with the fault of the statement.
 */
export type TakeTurn = (instanceId: bigint, turn: Turn) => Promise<TurnRows>;

/** Channels to one ledger. A wallet always takes the same of them, so that no two wait for one wallet. */
export type Channels = readonly [TakeTurn, ...TakeTurn[]];

interface Part {
  readonly instanceId: bigint;
  readonly turn: Turn;
}

/** Parts in one statement. There are never more processes on a machine. */
const PARTS_MAX = 256;

/**
 * A channel for several processes. The turns that they hand in while a statement runs are one statement together, so that
 * batches are as large as those of a single process. If that statement fails, each turn is tried once alone, so that a process
 * never hears of a fault that is another's. What to do about its own is for the process that handed it in.
 */
export function createSharedChannel(pool: Pool): TakeTurn {
  const busy = createBusyProcesses();
  const parts = createBatcher<Part, TurnRows>({
    run: async (waiting) => {
      const rows = await takeTogether(pool, waiting);
      busy.answer(waiting);
      return rows;
    },
    itemsMax: PARTS_MAX,
    retriesMax: () => 0,
    gather: busy.gather,
  });
  return (instanceId, turn) => {
    busy.arrive(instanceId);
    return parts.submit({ instanceId, turn });
  };
}

/** Calls in a turn from which on its process surely has the next turn ready. */
const BUSY_CALLS = 8;
/** This is far less time than a statement with so many calls takes. */
const GATHER_MS_MAX = 1;

/**
 * Keeps the busy processes of a channel in step. Otherwise, while the turn of one runs, that of the other waits, and from then on each
 * statement has the calls of one process only. So after a statement, the processes whose turns it took are given a moment to hand
 * in their next ones.
 */
function createBusyProcesses() {
  const awaited = new Set<bigint>();
  let go: (() => void) | undefined;
  return {
    answer: (parts: readonly Part[]): void => {
      for (const { instanceId, turn } of parts) {
        if (turn.requests.length + turn.settlements.length >= BUSY_CALLS) awaited.add(instanceId);
      }
    },
    arrive: (instanceId: bigint): void => {
      awaited.delete(instanceId);
      if (awaited.size === 0) go?.();
    },
    gather: async (): Promise<void> => {
      if (awaited.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, GATHER_MS_MAX);
        go = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      go = undefined;
      awaited.clear();
    },
  };
}

async function takeTogether(pool: Pool, parts: readonly Part[]): Promise<readonly TurnRows[]> {
  const [first] = parts;
  assert(first !== undefined, 'a batch holds something');
  if (parts.length === 1) return [await takeTurn(pool, first.instanceId, first.turn)];
  const owners = new Map<HoldRequest, bigint>();
  for (const { instanceId, turn } of parts) for (const request of turn.requests) owners.set(request, instanceId);
  const whole = {
    settlements: parts.flatMap(({ turn }) => turn.settlements),
    requests: parts.flatMap(({ turn }) => turn.requests),
  };
  const { settled, placed } = await takeTurn(pool, (request) => owners.get(request) ?? first.instanceId, whole);
  let ends = 0;
  let places = 0;
  return parts.map(({ turn: { settlements, requests } }) => ({
    settled: settled.slice(ends, (ends += settlements.length)),
    placed: placed.slice(places, (places += requests.length)),
  }));
}
