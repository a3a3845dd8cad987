import { parentPort, workerData } from 'node:worker_threads';
import { compareWithLists, type ListComparison } from '#price-lists/compare.ts';

// A list has megabytes, and the second one takes 17 MB of memory: a thread of its own, which ends with the answer.
parentPort?.postMessage(await compareWithLists(workerData as ListComparison));
