import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ListComparison } from '#price-lists/compare.ts';
import type { ComparisonAnswer } from '#price-lists/compare-worker.ts';

/** Some twenty times as long as models.dev's list takes. */
const COMPARE_MS_MAX = 30_000;
const MEMORY_MB_MAX = 512;

/** Compares a price list in a thread of its own, so that calls do not wait for it. One that takes too long is given up. */
export async function compareInThread(comparison: ListComparison): Promise<ComparisonAnswer> {
  const worker = new Worker(new URL('../../price-lists/compare-worker.ts', import.meta.url), {
    workerData: comparison,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  try {
    const [answer] = (await once(worker, 'message', { signal: AbortSignal.timeout(COMPARE_MS_MAX) })) as [
      ComparisonAnswer,
    ];
    return answer;
  } catch {
    return { fault: 'The price list cannot be read: it is too large, or it takes too long.' };
  } finally {
    await worker.terminate();
  }
}
