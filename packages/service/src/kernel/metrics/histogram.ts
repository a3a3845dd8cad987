/** What a histogram has counted, as plain data. */
export interface Distribution {
  readonly bounds: readonly number[];
  readonly series: readonly DistributionSeries[];
}

/** The labels with commas and without braces, '' if there are none; the counts of `Buckets`; and the sum. */
type DistributionSeries = readonly [labels: string, counts: readonly number[], sum: number];

/** Adds up what two processes have counted. Both have the same bounds, because they run the same build. */
export function mergeDistributions(
  left: Distribution | undefined,
  right: Distribution | undefined,
): Distribution | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const merged = new Map(left.series.map((one) => [one[0], one]));
  for (const [labels, counts, sum] of right.series) {
    const [, known = [], knownSum = 0] = merged.get(labels) ?? [];
    merged.set(labels, [labels, counts.map((count, at) => count + (known[at] ?? 0)), sum + knownSum]);
  }
  return { bounds: left.bounds, series: [...merged.values()] };
}

/** Renders it in the text format of Prometheus, in which each bucket contains the smaller ones. */
export function renderDistribution(name: string, { bounds, series }: Distribution): string {
  return series
    .map(([labels, counts, sum]) => {
      const comma = labels === '' ? '' : ',';
      const braced = labels === '' ? '' : `{${labels}}`;
      let total = 0;
      const lines = counts.map((count, at) => {
        total += count;
        return `${name}_bucket{${labels}${comma}le="${bounds[at] ?? '+Inf'}"} ${total}\n`;
      });
      return `${lines.join('')}${name}_sum${braced} ${sum}\n${name}_count${braced} ${total}\n`;
    })
    .join('');
}
