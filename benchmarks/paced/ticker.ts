// Tells the main thread when calls are due. A thread can sleep for half a millisecond and keep the time; a timer of the
// main thread cannot, and to spin there would take the core away from the upstream and the database.
import { parentPort, workerData } from 'node:worker_threads';

const { everyMs, count } = workerData as { readonly everyMs: number; readonly count: number };
const still = new Int32Array(new SharedArrayBuffer(4));
const startedAt = performance.now();
/** The start is told on the clock that all threads share, because the other thread may get the first message late. */
tell(performance.timeOrigin + startedAt);
for (let call = 0; call < count; call += 1) {
  const waitMs = startedAt + call * everyMs - performance.now();
  if (waitMs > 0) Atomics.wait(still, 0, 0, waitMs);
  tell(call);
}

function tell(value: number): void {
  parentPort?.postMessage(value, []);
}
