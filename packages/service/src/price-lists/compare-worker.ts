import { parentPort, workerData } from 'node:worker_threads';
import {
  type ComparedList,
  compareWithLists,
  type ComparisonFault,
  type ListComparison,
} from '#price-lists/compare.ts';

/** What the thread says before it ends. */
export type ComparisonAnswer = ComparedList | ComparisonFault;

// A list has megabytes, and the second one takes 17 MB of memory: a thread of its own, which ends with the answer.
const answer: ComparisonAnswer = await compareWithLists(workerData as ListComparison);
parentPort?.postMessage(answer);
