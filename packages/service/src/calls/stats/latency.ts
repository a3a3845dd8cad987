/** Upper bounds of the buckets in milliseconds; the last bucket has none. A change needs a migration of what is stored. */
export const BOUNDS_MS: readonly number[] = [
  25, 50, 100, 200, 350, 500, 750, 1_000, 1_500, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000,
];
export const BUCKETS = BOUNDS_MS.length + 1;

/** How long answers took: counts by bucket, and what they say about the middle and the slow end. */
export interface Latency {
  /** One count for each of `BOUNDS_MS`, and one for what took longer. */
  readonly buckets: readonly number[];
  readonly count: number;
  /** The median is estimated within a bucket. It is undefined if nothing was answered. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

export function latencyOf(buckets: readonly number[]): Latency {
  const count = buckets.reduce((sum, some) => sum + some, 0);
  return { buckets, count, p50Ms: percentileOf(buckets, count, 0.5), p95Ms: percentileOf(buckets, count, 0.95) };
}

/**
 * Estimates the duration that this share of the answers stayed within, as if the answers of a bucket were spread evenly over
 * it. In the last bucket, which has no end, it is the bound where that begins.
 */
function percentileOf(buckets: readonly number[], count: number, share: number): number | undefined {
  if (count === 0) return undefined;
  let left = share * count;
  for (const [bucket, some] of buckets.entries()) {
    const from = BOUNDS_MS[bucket - 1] ?? 0;
    const to = BOUNDS_MS[bucket] ?? from;
    if (some > 0 && left <= some) return Math.round(from + ((to - from) * left) / some);
    left -= some;
  }
  return BOUNDS_MS.at(-1);
}
