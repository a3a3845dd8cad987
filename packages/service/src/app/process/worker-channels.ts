import cluster, { type Worker } from 'node:cluster';
import { availableParallelism } from 'node:os';
import { faultFrom, faultTextOf } from '#db/pool/fault-text.ts';
import { ANSWER_GRACE_MS, createPool, SILENCE, STATEMENT_TIMEOUT_MS } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { isJsonObject } from '#kernel/text/json.ts';
import type { Log } from '#kernel/log.ts';
import { createSharedChannel, type Channels, type TakeTurn } from '#ledger/turn/channel.ts';
import type { Turn, TurnRows } from '#ledger/turn/queries.ts';

/**
 * Gateway processes behind one port share the channels of their primary process: each hands in its turns, and the primary makes
 * one statement of those that wait for the same channel. The messages are structured clones, so amounts stay bigints.
 */
type Message =
  | {
      readonly purser: 'turn';
      readonly id: number;
      readonly channel: number;
      readonly instanceId: bigint;
      readonly turn: Turn;
    }
  | { readonly purser: 'turn taken'; readonly id: number; readonly rows: TurnRows }
  | { readonly purser: 'turn failed'; readonly id: number; readonly fault: string };

/** The primary process reports a silent database sooner. One that says nothing by then stands still, which is no better. */
const ANSWER_MS_MAX = STATEMENT_TIMEOUT_MS + 2 * ANSWER_GRACE_MS;

const NAMES = ['turn', 'turn taken', 'turn failed'];

/** Other modules send messages between these processes too, so everything else is ignored. */
function isMessage(value: unknown): value is Message {
  return isJsonObject(value) && typeof value['purser'] === 'string' && NAMES.includes(value['purser']);
}

/** Batches stay large with few channels, and one channel keeps about two gateway processes busy, if each has a core. */
const WORKERS_PER_CHANNEL = 2;
const CHANNELS_MAX = 4;

function channelsFor(workers: number): number {
  return Math.min(CHANNELS_MAX, Math.ceil(Math.min(workers, availableParallelism()) / WORKERS_PER_CHANNEL));
}

interface WorkerChannelsOptions {
  readonly databaseUrl: string;
  readonly workers: number;
  readonly log: Log;
}

/**
 * Takes the turns of all workers. The primary process calls it before it forks a worker, and stops it when they have
 * ended.
 */
export function startWorkerChannels({ databaseUrl, workers, log }: WorkerChannelsOptions): {
  readonly count: number;
  readonly stop: () => Promise<void>;
} {
  cluster.setupPrimary({ serialization: 'advanced' }); // Structured clones: turns hold bigints and buffers.
  const pools = Array.from({ length: channelsFor(workers) }, () =>
    createPool({
      url: databaseUrl,
      role: 'live',
      connectionsMax: 1,
      keepsOne: true,
      keepsConnection: true,
      use: 'calls',
      log,
    }),
  );
  const channels = pools.map(createSharedChannel);
  const onMessage = (worker: Worker, message: unknown): void => {
    if (!isMessage(message) || message.purser !== 'turn') return;
    const { id, channel, instanceId, turn } = message;
    const answer = (message: Message): void => {
      // With a callback: without one, an answer to a worker that has just died ends this process, and with it all others.
      if (worker.isConnected()) worker.send(message, () => undefined);
    };
    const takeTurn = channels[channel];
    assert(takeTurn !== undefined, 'a worker knows how many channels there are');
    takeTurn(instanceId, turn).then(
      (rows) => answer({ purser: 'turn taken', id, rows }),
      (fault: unknown) => answer({ purser: 'turn failed', id, fault: faultTextOf(fault) }),
    );
  };
  cluster.on('message', onMessage);
  return {
    count: channels.length,
    stop: async () => {
      cluster.off('message', onMessage);
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/**
 * Opens, in a worker, the channels of the primary process, whose number the primary tells. A worker ends with its primary,
 * so it needs no others.
 */
export function openWorkerChannels(count: number): Channels {
  const waiting = new Map<number, PromiseWithResolvers<TurnRows>>();
  let lastId = 0;
  process.on('message', (message) => {
    if (!isMessage(message) || message.purser === 'turn') return;
    const turn = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.purser === 'turn taken') turn?.resolve(message.rows);
    else turn?.reject(faultFrom(message.fault));
  });
  const open =
    (channel: number): TakeTurn =>
    (instanceId, turn) => {
      lastId += 1;
      const id = lastId;
      const answered = Promise.withResolvers<TurnRows>();
      const timer = setTimeout(() => {
        waiting.delete(id);
        answered.reject(new Error(SILENCE));
      }, ANSWER_MS_MAX);
      waiting.set(id, answered);
      process.send?.({ purser: 'turn', id, channel, instanceId, turn } satisfies Message);
      return answered.promise.finally(() => clearTimeout(timer));
    };
  return [open(0), ...Array.from({ length: count - 1 }, (_, place) => open(place + 1))];
}
