import { assert } from '#kernel/faults/assert.ts';
import { type Distribution, mergeDistributions, renderDistribution } from '#kernel/metrics/histogram.ts';

/**
 * What this process counts, for `GET /metrics`. Names and label values are fixed where a metric is declared. So no id, key or
 * text of a call can get into them, the number of series is bounded, and counting on the hot path is one addition.
 */
interface Metric {
  readonly kind: MetricReading['kind'];
  readonly help: string;
  readonly across: 'sum' | 'max';
  readonly read: () => readonly Sample[];
  /** The distribution of a histogram, which has no samples. */
  readonly distribution?: () => Distribution;
}

/** The labels as text with braces, or '' when there are none; and the value. */
type Sample = readonly [labels: string, value: number];

/** One process's reading of a metric at one moment. Plain data, because workers send it to the primary process. */
export interface MetricReading {
  readonly name: string;
  /** Counters and histograms only grow while their process lives. */
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** How readings of several processes are merged: their sum, or the largest. */
  readonly across: 'sum' | 'max';
  readonly samples: readonly Sample[];
  readonly distribution?: Distribution;
}

export interface Counter {
  readonly add: (by?: number) => void;
}

/** Each label with all its possible values. */
type LabelValues = Readonly<Record<string, readonly string[]>>;

interface LabelledCounter<Values extends LabelValues> {
  /** The counter of these values: `calls.of({ mode: 'live' }).add()`. */
  readonly of: (labels: { readonly [Name in keyof Values]: Values[Name][number] }) => Counter;
}

const NAME = /^purser_[a-z]+(_[a-z]+)*$/;
const LABEL_VALUE = /^[A-Za-z][A-Za-z0-9_]*$/;

const metrics = new Map<string, Metric>();

/**
 * Declares a metric. Declaring a name again replaces the first metric, so that a test that starts a second service
 * reads that one's figures.
 */
export function declareMetric(name: string, metric: Metric): void {
  assert(NAME.test(name), `${name} is a valid metric name`);
  assert(
    (metric.kind === 'counter') === name.endsWith('_total'),
    `${name} ends in _total exactly when it is a counter`,
  );
  metrics.set(name, metric);
}

/** Declares a number that only grows, from 0 when the process starts. Its name must end in `_total`. */
export function counter(name: string, help: string): Counter {
  const cell = createCell();
  declareMetric(name, { kind: 'counter', help, across: 'sum', read: () => [['', cell.value()]] });
  return cell;
}

/**
 * Declares one counter for each combination of label values. All of them exist from the start, so a series that is still 0
 * shows up as 0 instead of being absent, and rates over it are right from the first event on.
 */
export function labelledCounter<const Values extends LabelValues>(
  name: string,
  help: string,
  values: Values,
): LabelledCounter<Values> {
  const names = Object.keys(values);
  const root = branchOf(Object.values(values));
  const samples = combinationsOf(Object.values(values)).map((one) => {
    const labels = Object.fromEntries(names.map((name, at) => [name, one[at]]));
    return [labelsText(names, one), of(labels)] as const;
  });
  declareMetric(name, {
    kind: 'counter',
    help,
    across: 'sum',
    read: () => samples.map(([labels, cell]) => [labels, cell.value()]),
  });

  /** Without a list of the values: calls are counted by this. */
  function of(labels: Readonly<Record<string, unknown>>): Cell {
    let branch: Branch | undefined = root;
    for (let at = 0; at < names.length; at += 1)
      branch = branch instanceof Map ? branch.get(labels[names[at] ?? '']) : undefined;
    assert(branch !== undefined && !(branch instanceof Map), 'these label values were declared');
    return branch;
  }
  return { of };
}

interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly across: 'sum' | 'max';
  readonly read: () => number;
}

/** Declares a number that goes up and down. It is read when `/metrics` is. */
export function gauge({ name, help, across, read }: ReadMetric): void {
  declareMetric(name, { kind: 'gauge', help, across, read: () => [['', read()]] });
}

/** Declares a counter that is kept elsewhere, such as in the operating system. It is read when `/metrics` is. */
export function readCounter({ name, help, read }: Omit<ReadMetric, 'across'>): void {
  declareMetric(name, { kind: 'counter', help, across: 'sum', read: () => [['', read()]] });
}

/** Reads all metrics of this process. */
export function readMetrics(): readonly MetricReading[] {
  return Array.from(metrics, ([name, { read, distribution, ...about }]) => {
    const reading = { name, ...about, samples: read() };
    return distribution === undefined ? reading : { ...reading, distribution: distribution() };
  });
}

/** Merges the readings of several processes into one. A metric that only some processes have keeps their figures. */
export function mergeReadings(processes: readonly (readonly MetricReading[])[]): readonly MetricReading[] {
  const merged = new Map<string, { reading: MetricReading; samples: Map<string, number> }>();
  for (const reading of processes.flat()) {
    const known = merged.get(reading.name);
    if (known === undefined) {
      merged.set(reading.name, { reading, samples: new Map(reading.samples) });
      continue;
    }
    const distribution = mergeDistributions(known.reading.distribution, reading.distribution);
    if (distribution !== undefined) known.reading = { ...known.reading, distribution };
    for (const [labels, value] of reading.samples) {
      const before = known.samples.get(labels);
      known.samples.set(labels, before === undefined ? value : together(reading.across, before, value));
    }
  }
  return Array.from(merged.values(), ({ reading, samples }) => ({ ...reading, samples: [...samples] }));
}

function together(across: 'sum' | 'max', left: number, right: number): number {
  return across === 'sum' ? left + right : Math.max(left, right);
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Renders readings in the Prometheus text format, version 0.0.4. */
export function renderMetrics(readings: readonly MetricReading[]): string {
  return readings
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, kind, help, samples, distribution }) => {
      const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
      const counts = distribution === undefined ? '' : renderDistribution(name, distribution);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}${counts}`;
    })
    .join('');
}

export interface Cell extends Counter {
  readonly value: () => number;
}

export function createCell(): Cell {
  let count = 0;
  return {
    add: (by = 1) => {
      count += by;
    },
    value: () => count,
  };
}

/**
 * A tree of counters: one level for each label, one branch for each value. `of` walks it with map look-ups, which is cheaper
 * than building a key text for every count.
 */
type Branch = Cell | Map<unknown, Branch>;

function branchOf([first, ...rest]: readonly (readonly string[])[]): Branch {
  return first === undefined ? createCell() : new Map(first.map((value) => [value, branchOf(rest)]));
}

function combinationsOf(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return lists.reduce<readonly (readonly string[])[]>(
    (all, list) => all.flatMap((one) => list.map((value) => [...one, value])),
    [[]],
  );
}

function labelsText(names: readonly string[], values: readonly string[]): string {
  for (const value of values) assert(LABEL_VALUE.test(value), `${value} is a valid label value`);
  return `{${names.map((name, index) => `${name}="${values[index]}"`).join(',')}}`;
}
