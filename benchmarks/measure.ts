import type { Checkout } from './support/checkout.ts';
import type { Ground } from './support/ground.ts';
import type { Tools } from './support/tools.ts';

/** One subject of the benchmark, such as plain calls. Its rounds are interleaved over all its targets. */
export interface Measure {
  /** The name by which `--only` selects the measure. */
  readonly name: string;
  readonly title: string;
  readonly run: (bench: Bench) => Promise<readonly Row[]>;
  /** True for a measure that runs only with `--scale`, so that a run without it takes at most ten minutes. */
  readonly isScale?: boolean;
}

/** What one target, such as nginx, came to. */
export interface Row {
  readonly target: string;
  /** The figures of the row. The key is the name of the column. */
  readonly figures: Readonly<Record<string, Figure>>;
  /** Why the figures are worth nothing: wrong answers, above all. */
  readonly isVoid?: string;
}

/** The median over the rounds, and what each of them gave. */
export interface Figure {
  readonly median: number;
  readonly samples: readonly number[];
  /** The unit, such as `us/call`, `calls/s` or `MB`. */
  readonly unit: string;
}

/** What a measure has at hand. */
export interface Bench {
  readonly tools: Tools;
  readonly rounds: number;
  /** How long one target is measured in one round, without its warm-up. */
  readonly seconds: number;
  /** An older checkout, which is measured in the same rounds. */
  readonly beside: Checkout | undefined;
  /** A directory for scratch files, which is removed at the end. */
  readonly directory: string;
  /** What stands for all measures, started when the first of them asks: upstream, nginx, database, service. */
  readonly ground: () => Promise<Ground>;
  /** Tells the person at the terminal how far it is. */
  readonly say: (text: string) => void;
  /** Notes for the report that something was left out, and how to get it. */
  readonly missing: (what: string, how: string) => void;
  /** Notes for the report something that a reader of the figures should know. */
  readonly note: (text: string) => void;
}

export function figure(unit: string, samples: readonly number[]): Figure {
  return { median: medianOf(samples), samples, unit };
}

/** Returns NaN if there are no samples, and the mean of the two in the middle if their number is even. */
export function medianOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
