import { assert } from '#kernel/assert.ts';

/**
 * What this process counts, for `GET /metrics`. Names and the values of labels are fixed where a metric is declared, so
 * that no id, key or text of a call can get into them, and counting is an addition to a number that is there already.
 */
interface Metric {
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly across: 'sum' | 'max';
  readonly read: () => readonly Sample[];
}

/** The labels as they are written, braces included, or '' where there are none; and the value. */
type Sample = readonly [labels: string, value: number];

/** A metric as one process reads it at one moment. Plain data, which goes from process to process. */
export interface MetricReading {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  /** What several processes together have: the sum of it, or the largest. */
  readonly across: 'sum' | 'max';
  readonly samples: readonly Sample[];
}

interface Counter {
  readonly add: (by?: number) => void;
}

/** Each label with all the values that it can have. */
type LabelValues = Readonly<Record<string, readonly string[]>>;

interface LabelledCounter<Values extends LabelValues> {
  /** The counter of these values: `calls.of({ mode: 'live' }).add()`. */
  readonly of: (labels: { readonly [Name in keyof Values]: Values[Name][number] }) => Counter;
}

const NAME = /^purser_[a-z]+(_[a-z]+)*$/;
const LABEL_VALUE = /^[A-Za-z][A-Za-z0-9_]*$/;

const metrics = new Map<string, Metric>();

/** A name that is declared again takes the place of the first: a second service in a process reads its own. */
function declare(name: string, metric: Metric): void {
  assert(NAME.test(name), `${name} is a name for a metric`);
  assert((metric.kind === 'counter') === name.endsWith('_total'), `${name} ends as metrics of its kind do`);
  metrics.set(name, metric);
}

/** A number that only grows, from 0 at the start of the process. Its name ends in `_total`. */
export function counter(name: string, help: string): Counter {
  const cell = createCell();
  declare(name, { kind: 'counter', help, across: 'sum', read: () => [['', cell.value()]] });
  return cell;
}

/** A counter for each combination of the values of its labels, all of them there from the start. */
export function labelledCounter<const Values extends LabelValues>(
  name: string,
  help: string,
  values: Values,
): LabelledCounter<Values> {
  const names = Object.keys(values);
  const root = branchOf(Object.values(values));
  const samples = combinationsOf(Object.values(values)).map((one) => [labelsText(names, one), cellOf(one)] as const);
  declare(name, {
    kind: 'counter',
    help,
    across: 'sum',
    read: () => samples.map(([labels, cell]) => [labels, cell.value()]),
  });

  function cellOf(one: readonly unknown[]): Cell {
    let branch: Branch | undefined = root;
    for (const value of one) branch = branch instanceof Map ? branch.get(value) : undefined;
    assert(branch !== undefined && !(branch instanceof Map), 'a counter has these values of its labels');
    return branch;
  }
  return { of: (labels) => cellOf(names.map((label) => labels[label])) };
}

interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly across: 'sum' | 'max';
  readonly read: () => number;
}

/** A number that goes up and down, read when it is asked for. */
export function gauge({ name, help, across, read }: ReadMetric): void {
  declare(name, { kind: 'gauge', help, across, read: () => [['', read()]] });
}

/** A counter that is kept elsewhere, read when it is asked for. */
export function readCounter({ name, help, read }: Omit<ReadMetric, 'across'>): void {
  declare(name, { kind: 'counter', help, across: 'sum', read: () => [['', read()]] });
}

/** All metrics of this process as they are now. */
export function readMetrics(): readonly MetricReading[] {
  return Array.from(metrics, ([name, { read, ...about }]) => ({ name, ...about, samples: read() }));
}

/** What several processes have together. */
export function mergeReadings(processes: readonly (readonly MetricReading[])[]): readonly MetricReading[] {
  const merged = new Map<string, { reading: MetricReading; samples: Map<string, number> }>();
  for (const reading of processes.flat()) {
    const known = merged.get(reading.name) ?? { reading, samples: new Map<string, number>() };
    merged.set(reading.name, known);
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

/** The text format of Prometheus, version 0.0.4. */
export function renderMetrics(readings: readonly MetricReading[]): string {
  return readings
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, kind, help, samples }) => {
      const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
    })
    .join('');
}

interface Cell extends Counter {
  readonly value: () => number;
}

function createCell(): Cell {
  let count = 0;
  return {
    add: (by = 1) => {
      count += by;
    },
    value: () => count,
  };
}

/** Cells by the value of the first label, and so on. */
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
  for (const value of values) assert(LABEL_VALUE.test(value), `${value} is a value for a label`);
  return `{${names.map((name, index) => `${name}="${values[index]}"`).join(',')}}`;
}
