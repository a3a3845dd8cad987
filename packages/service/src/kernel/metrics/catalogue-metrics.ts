import type { Distribution } from '#kernel/metrics/histogram.ts';
import { type Cell, type Counter, createCell, declareMetric } from '#kernel/metrics/metrics.ts';

/** The series of one metric that may exist beside the last, which takes all others. */
const CATALOGUE_SERIES_MAX = 500;

interface CatalogueCounter {
  /** The counter of these values, one for each label in their order. */
  readonly of: (values: readonly string[]) => Counter;
}

/**
 * Declares a counter whose labels hold names that operators give in the catalogue. A series begins with its first event. There are
 * never more than 500: then everything new counts as `other`, so that a catalogue that keeps changing cannot fill the memory.
 */
export function catalogueCounter(name: string, help: string, labels: readonly string[]): CatalogueCounter {
  const cells = new Map<string, Cell>();
  declareMetric(name, {
    kind: 'counter',
    help,
    across: 'sum',
    read: () => Array.from(cells, ([text, cell]) => [text, cell.value()] as const),
  });
  return {
    of: (values) => {
      const text = catalogueLabels(labels, values);
      const key = cells.has(text) || cells.size < CATALOGUE_SERIES_MAX ? text : catalogueLabels(labels, []);
      const cell = cells.get(key) ?? createCell();
      cells.set(key, cell);
      return cell;
    },
  };
}

interface CatalogueReading {
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  readonly across: 'sum' | 'max';
  readonly labels: readonly string[];
  /** The values of the labels in their order, and the figure. Readings with the same values are added up. */
  readonly read: () => readonly (readonly [values: readonly string[], value: number])[];
}

/** Declares figures that are kept elsewhere, under names that operators give in the catalogue. They are read when `/metrics` is. */
export function catalogueReading({ labels, read, ...about }: CatalogueReading): void {
  const { name, ...metric } = about;
  declareMetric(name, {
    ...metric,
    read: () => {
      const samples = new Map<string, number>();
      for (const [values, value] of read()) {
        const text = catalogueLabels(labels, values);
        samples.set(text, (samples.get(text) ?? 0) + value);
      }
      return [...samples].slice(0, CATALOGUE_SERIES_MAX);
    },
  });
}

/** Counts how many of the observed values were within each bound. */
class Buckets {
  /** One for each bound, without what is within a smaller bound, and one for what is above all of them. */
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  /** The parameter `bounds` has the upper bounds, the smallest first. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** Counts one value. A few comparisons and two additions: this runs for every call. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** A histogram of one set of times. All of a set have the same labels. */
interface Timing {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in seconds, the smallest first. */
  readonly bounds: readonly number[];
}

interface CatalogueTimings {
  /**
   * The buckets of these values, in the order of the labels: one for each histogram, in the order of their declaration. Names are
   * from the catalogue. The others come from short lists of ours.
   */
  readonly of: (...values: readonly string[]) => readonly Buckets[];
}

/**
 * Declares histograms that share their labels, so that a call looks its series up once. Labels are first names of the catalogue, and
 * then some with values from short lists. Like counters, they have at most 500 series: then new names count as `other`.
 */
export function catalogueTimings(
  timings: readonly Timing[],
  labels: { readonly names: readonly string[]; readonly fixed: readonly string[] },
): CatalogueTimings {
  const all = [...labels.names, ...labels.fixed];
  const root: Spelled = new Map(); // At most a few more than the series: one entry for each spelling.
  let spellings = 0;
  const byLabels = new Map<string, readonly Buckets[]>();

  function find(values: readonly string[]): readonly Buckets[] {
    const isFull = spellings >= CATALOGUE_SERIES_MAX;
    const known = isFull ? values.map((value, at) => (at < labels.names.length ? OTHER : value)) : values;
    const text = labelPairs(all, known);
    const buckets = byLabels.get(text) ?? timings.map(({ bounds }) => new Buckets(bounds));
    byLabels.set(text, buckets);
    if (spelled(root, known) === undefined) spellings += 1;
    spell(root, known, buckets);
    return buckets;
  }

  for (const [index, { name, help, bounds }] of timings.entries()) {
    const series = () =>
      Array.from(byLabels, ([text, buckets]) => {
        const { counts = [], sum = 0 } = buckets[index] ?? {};
        return [text, [...counts], sum] as const;
      });
    const distribution = (): Distribution => {
      return { bounds, series: series().filter(([, counts]) => counts.some((count) => count > 0)) };
    };
    declareMetric(name, { kind: 'histogram', help, across: 'sum', read: () => [], distribution });
  }
  return { of: (...values) => spelled(root, values) ?? find(values) };
}

/** The buckets by one value after the other: a joint text of them would have to be made and hashed for each call. */
type Spelled = Map<string, Spelled | readonly Buckets[]>;

function spelled(root: Spelled, values: readonly string[]): readonly Buckets[] | undefined {
  let branch: Spelled | readonly Buckets[] | undefined = root;
  for (let at = 0; at < values.length; at += 1)
    branch = branch instanceof Map ? branch.get(values[at] as string) : undefined;
  return branch instanceof Map ? undefined : branch;
}

function spell(branch: Spelled, [value = '', ...others]: readonly string[], buckets: readonly Buckets[]): void {
  if (others.length === 0) return void branch.set(value, buckets);
  const next = branch.get(value);
  const inner: Spelled = next instanceof Map ? next : new Map();
  branch.set(value, inner);
  spell(inner, others, buckets);
}

const OTHER = 'other';

function catalogueLabels(labels: readonly string[], values: readonly string[]): string {
  return `{${labelPairs(labels, values)}}`;
}

/** Names as label values, without the characters that would end one. */
function labelPairs(labels: readonly string[], values: readonly string[]): string {
  return labels
    .map((label, at) => `${label}="${(values[at] ?? OTHER).replaceAll(/[^\w.:/-]/g, '_').slice(0, 128)}"`)
    .join(',');
}
