import cluster, { type Worker } from 'node:cluster';
import { isJsonObject } from '#kernel/text/json.ts';
import { mergeReadings, type MetricReading, readMetrics } from '#kernel/metrics/metrics.ts';

/**
 * A scrape reaches only the worker that got its connection. That worker asks the primary process, which asks all
 * workers and returns their merged readings.
 */
type Message =
  | { readonly purser: 'metrics wanted'; readonly id: number }
  | { readonly purser: 'metrics'; readonly id: number; readonly readings: readonly MetricReading[] };

/** A worker that does not answer in time (busy or stopped) is represented by its last readings. */
const WORKER_ANSWER_MS_MAX = 1_000;
const ANSWER_MS_MAX = 3_000;
/** A worker that is killed takes with it what it has counted since the last look. */
const LOOK_MS = 2_000;

/** Other modules may send messages over the same channel, so everything else is ignored. */
function isMessage(value: unknown): value is Message {
  return isJsonObject(value) && (value['purser'] === 'metrics wanted' || value['purser'] === 'metrics');
}

/** Returns, in a worker, a function that reads the merged metrics of all workers. */
export function createWorkerReader(): () => Promise<readonly MetricReading[]> {
  const waiting = new Map<number, (readings: readonly MetricReading[]) => void>();
  let lastId = 0;
  process.on('message', (message) => {
    if (!isMessage(message)) return;
    if (message.purser === 'metrics') waiting.get(message.id)?.(message.readings);
    else process.send?.({ purser: 'metrics', id: message.id, readings: readMetrics() } satisfies Message);
  });
  return async () => {
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<readonly MetricReading[]>();
    const timer = setTimeout(
      () => reject(new Error('The primary process did not return the metrics in time.')),
      ANSWER_MS_MAX,
    );
    waiting.set(id, resolve);
    process.send?.({ purser: 'metrics wanted', id } satisfies Message);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
}

/**
 * Answers the workers, in the primary process. The counters of a worker that died are added to `gone`, because a
 * counter that fell would look like a restart of the whole service.
 */
export function startWorkerMetrics(lookMs = LOOK_MS): { readonly stop: () => void } {
  const last = new Map<number, readonly MetricReading[]>();
  const waiting = new Map<string, () => void>();
  let gone: readonly MetricReading[] = [];
  let lastId = 0;

  async function readAll(): Promise<readonly MetricReading[]> {
    lastId += 1;
    const id = lastId;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true);
    await Promise.all(workers.map((worker) => ask(worker as Worker, id)));
    // The primary process counts too: it takes the turns of the workers.
    return mergeReadings([...last.values(), gone, readMetrics()]);
  }

  async function ask(worker: Worker, id: number): Promise<void> {
    const key = `${worker.id}:${id}`;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WORKER_ANSWER_MS_MAX);
      const answered = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.set(key, answered);
      // With a callback: without one, a message to a worker that has just died ends this process, and with it all others.
      worker.send({ purser: 'metrics wanted', id } satisfies Message, (fault) => fault === null || answered());
    });
    waiting.delete(key);
  }

  const onMessage = (worker: Worker, message: unknown): void => {
    if (!isMessage(message)) return;
    const { id } = message;
    if (message.purser === 'metrics') {
      if (!worker.isDead()) last.set(worker.id, message.readings);
      waiting.get(`${worker.id}:${id}`)?.();
      return;
    }
    void readAll().then((readings) => {
      if (worker.isConnected()) worker.send({ purser: 'metrics', id, readings } satisfies Message, () => undefined);
    });
  };
  const onExit = (worker: Worker): void => {
    const counters = (last.get(worker.id) ?? []).filter(({ kind }) => kind !== 'gauge');
    gone = mergeReadings([gone, counters]);
    last.delete(worker.id);
    for (const [key, resolve] of waiting) if (key.startsWith(`${worker.id}:`)) resolve();
  };
  cluster.on('message', onMessage);
  cluster.on('exit', onExit);
  const looks = setInterval(() => void readAll(), lookMs).unref();
  return {
    stop: () => {
      clearInterval(looks);
      cluster.off('message', onMessage);
      cluster.off('exit', onExit);
    },
  };
}
