import { type Files, type Mutant, type NamedTest, plant, rotOf } from './mutant.ts';
import { runTests } from './run-tests.ts';
import { createScratch, type Scratch } from './scratch.ts';

export interface Verdict {
  readonly mutant: Mutant;
  readonly isKilled: boolean;
  /** Why the mutant lives, of one that does. */
  readonly reason: string;
  readonly seconds: number;
}

interface Trial {
  /** The repository, for its installed packages. */
  readonly root: string;
  readonly files: Files;
  readonly mutants: readonly Mutant[];
  /** How many mutants are tried at once. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  readonly onVerdict?: (verdict: Verdict) => void;
}

/**
 * Plants each mutant by itself in a copy of the repository and tells whether its named test fails on an assertion. The
 * tests must first pass without any: the same ones, run in the same way. Throws where one has rotted or a test fails.
 */
export async function judgeMutants(trial: Trial): Promise<readonly Verdict[]> {
  const { root, files, mutants, jobs, signal } = trial;
  for (const mutant of mutants) {
    const rot = rotOf(files, mutant);
    if (rot !== undefined) throw new Error(`The mutant ${mutant.id} has rotted: ${rot}`);
  }
  const namesOf = Map.groupBy(
    mutants.map(({ killer }) => killer),
    ({ file }) => file,
  );
  const testsOf = new Map([...namesOf].map(([file, tests]) => [file, [...new Set(tests.map(({ name }) => name))]]));
  const scratches = Array.from({ length: jobs }, () => createScratch(root, files));
  try {
    await inParallel(scratches, [...testsOf], signal, (scratch, [file, names]) =>
      expectPassing(scratch, { file, names, signal }),
    );
    const verdicts: Verdict[] = [];
    await inParallel(scratches, mutants, signal, async (scratch, mutant) => {
      const verdict = await judge(scratch, { mutant, files, names: testsOf.get(mutant.killer.file) ?? [], signal });
      trial.onVerdict?.(verdict);
      verdicts.push(verdict);
    });
    return mutants.flatMap((mutant) => verdicts.filter((verdict) => verdict.mutant === mutant));
  } finally {
    for (const scratch of scratches) scratch.remove();
  }
}

/** Works through the items, each copy taking the next one when it is done with its last. */
async function inParallel<Item>(
  scratches: readonly Scratch[],
  items: readonly Item[],
  signal: AbortSignal,
  work: (scratch: Scratch, item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const settled = await Promise.allSettled(
    scratches.map(async (scratch) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        signal.throwIfAborted();
        await work(scratch, item);
      }
    }),
  );
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}

interface TestsOfFile {
  readonly file: string;
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

async function expectPassing({ root }: Scratch, { file, names, signal }: TestsOfFile): Promise<void> {
  const { tests, output } = await runTests({ root, file, names, signal });
  for (const name of names) {
    const result = tests.find((one) => one.name === name);
    if (result?.isPassed === true) continue;
    const why = result === undefined ? `it did not run. ${output.trim()}` : result.message;
    throw new Error(`Without a mutant, "${name}" of ${file} does not pass: ${why}`);
  }
}

interface Planting {
  readonly mutant: Mutant;
  readonly files: Files;
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

async function judge(scratch: Scratch, { mutant, files, names, signal }: Planting): Promise<Verdict> {
  const startMs = performance.now();
  const planted = plant(files, mutant);
  scratch.write(planted);
  try {
    const { file, name: untilFailed } = mutant.killer;
    const { tests, isTimedOut, output } = await runTests({ root: scratch.root, file, names, untilFailed, signal });
    signal.throwIfAborted();
    const reason = isTimedOut ? 'the tests took too long' : whyAlive(mutant.killer, tests, output);
    const seconds = (performance.now() - startMs) / 1000;
    return { mutant, isKilled: reason === undefined, reason: reason ?? '', seconds };
  } finally {
    scratch.write(new Map([...planted.keys()].map((path) => [path, files.get(path) ?? ''])));
  }
}

/** Why a mutant is not killed; undefined when its test failed on an assertion. */
function whyAlive(
  killer: NamedTest,
  tests: Awaited<ReturnType<typeof runTests>>['tests'],
  output: string,
): string | undefined {
  const result = tests.find(({ name }) => name === killer.name);
  if (result?.isPassed === true) return 'survived';
  if (result?.isAssertion === true) return undefined;
  const fault = result?.message ?? (tests.find(({ isPassed }) => !isPassed)?.message || output);
  return `no assertion failed, but: ${firstLineOf(fault)}`;
}

function firstLineOf(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
