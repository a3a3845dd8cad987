import assert from 'node:assert/strict';
import cluster, { type Worker } from 'node:cluster';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startWorkerMetrics } from '#app/process/worker-metrics.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';

interface Sent {
  readonly purser: string;
  readonly id: number;
  readonly readings?: readonly MetricReading[];
}

/** A worker as Node shows it to the first process. It answers each look with what it has counted. */
function workerWith(id: number, count: () => number): { readonly worker: Worker; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const worker = {
    id,
    isConnected: () => true,
    isDead: () => false,
    send: (message: Sent) => {
      sent.push(message);
      if (message.purser !== 'metrics wanted') return;
      const readings: readonly MetricReading[] = [
        { name: 'purser_done_total', kind: 'counter', help: 'x', across: 'sum', samples: [['', count()]] },
        {
          name: 'purser_done_seconds',
          kind: 'histogram',
          help: 'x',
          across: 'sum',
          samples: [],
          distribution: { bounds: [1], series: [['', [count(), 0], count() / 2]] },
        },
        { name: 'purser_open', kind: 'gauge', help: 'x', across: 'sum', samples: [['', count()]] },
      ];
      cluster.emit('message', worker, { purser: 'metrics', id: message.id, readings });
    },
  } as unknown as Worker;
  return { worker, sent };
}

test('OP-05 a killed worker’s counts stay in the sums', async () => {
  const workers = cluster.workers ?? {};
  let done = 3;
  const [first, second] = [workerWith(1, () => done), workerWith(2, () => 10)];
  Object.assign(workers, { 1: first.worker, 2: second.worker });
  const metrics = startWorkerMetrics(1);
  try {
    while (first.sent.length === 0) await setImmediate();
    const before = first.sent.length;
    done = 4;
    while (first.sent.length === before) await setImmediate(); // A look that nobody asked for.
    delete workers[1];
    cluster.emit('exit', first.worker);
    cluster.emit('message', second.worker, { purser: 'metrics wanted', id: 7 });
    const answer = (): Sent | undefined => second.sent.find(({ purser, id }) => purser === 'metrics' && id === 7);
    while (answer() === undefined) await setImmediate();
    const [counter, histogram, gauge] = answer()?.readings ?? [];
    assert.deepEqual(counter?.samples, [['', 14]]);
    assert.deepEqual(histogram?.distribution?.series, [['', [14, 0], 7]]);
    assert.deepEqual(gauge?.samples, [['', 10]], 'a gauge of a dead process is no figure of now');
  } finally {
    metrics.stop();
    for (const id of [1, 2]) delete workers[id];
  }
});

test('OP-05 a worker that dies while being asked breaks nothing', async () => {
  const workers = cluster.workers ?? {};
  const { worker, sent } = workerWith(1, () => 10);
  const dying = Object.assign(workerWith(2, () => 0).worker, {
    // Node does not know yet that it is gone. Without a callback it emits `error`, which ends the process.
    send: (_message: Sent, done?: (fault: Error) => void) => {
      if (done === undefined) throw new Error('write EPIPE');
      done(new Error('write EPIPE'));
      return false;
    },
  });
  Object.assign(workers, { 1: worker, 2: dying });
  const metrics = startWorkerMetrics();
  try {
    cluster.emit('message', dying, { purser: 'metrics wanted', id: 6 });
    cluster.emit('message', worker, { purser: 'metrics wanted', id: 7 });
    const answer = (): Sent | undefined => sent.find(({ purser, id }) => purser === 'metrics' && id === 7);
    for (let turn = 0; turn < 10_000 && answer() === undefined; turn += 1) await setImmediate();
    assert.deepEqual(answer()?.readings?.[0]?.samples, [['', 10]]);
  } finally {
    metrics.stop();
    for (const id of [1, 2]) delete workers[id];
  }
});
