import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { RESULT_MARK, type TestResult } from './reporter.ts';

const GLOBAL_SETUP = 'tests/support/global-setup.ts';
const TEST_TIMEOUT_MS = 100_000; // Longer than a test waits for something that does not happen.
const RUN_TIMEOUT_MS = 180_000;
const GRACE_MS = 15_000; // For the runner to take down what the global setup started.

interface TestRun {
  /** The folder that the tests are in. */
  readonly root: string;
  readonly file: string;
  /** The whole names of the tests. */
  readonly names: readonly string[];
  /** The run may end once this one has failed: what hangs behind it is not waited for. */
  readonly untilFailed?: string;
  /** Ends the run when it is aborted. */
  readonly signal: AbortSignal;
}

interface TestRunResult {
  readonly tests: readonly TestResult[];
  readonly isTimedOut: boolean;
  /** What was printed beside the results: why no test ran, for one. */
  readonly output: string;
}

/** Runs some tests of a file, in a process group of their own. */
export async function runTests({ root, file, names, untilFailed, signal }: TestRun): Promise<TestRunResult> {
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
  const args = [
    '--test',
    `--test-reporter=${pathToFileURL(join(import.meta.dirname, 'reporter.ts')).href}`,
    '--test-reporter-destination=stdout',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...(existsSync(join(root, GLOBAL_SETUP)) ? [`--test-global-setup=${GLOBAL_SETUP}`] : []),
    ...names.map((name) => `--test-name-pattern=^${escaped(name)}$`),
    file,
  ];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const tests: TestResult[] = [];
  const output: string[] = [];
  const enough = new AbortController();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const result = resultIn(line);
    if (result === undefined) output.push(line);
    else tests.push(result);
    if (result?.isPassed === false && result.name === untilFailed) enough.abort();
  });
  createInterface({ input: child.stderr }).on('line', (line) => output.push(line));
  const isTimedOut = await ended(child, AbortSignal.any([signal, enough.signal]));
  return { tests, isTimedOut, output: output.join('\n') };
}

/** The line of the reporter; undefined for one that something else printed. */
function resultIn(line: string): TestResult | undefined {
  return line.startsWith(RESULT_MARK) ? JSON.parse(line.slice(RESULT_MARK.length)) : undefined;
}

/** Waits for a run, and no longer than it may take. Gives whether it took too long. */
async function ended(child: ChildProcess, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once('error', reject).once('close', () => resolve());
  let hard: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGTERM');
    hard ??= setTimeout(() => killGroup(child), GRACE_MS);
  };
  let isTimedOut = false;
  const limit = setTimeout(() => {
    isTimedOut = true;
    end();
  }, RUN_TIMEOUT_MS);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    await promise;
  } finally {
    clearTimeout(limit);
    clearTimeout(hard);
    signal.removeEventListener('abort', end);
    killGroup(child); // Nothing that a test started stays behind.
  }
  return isTimedOut;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}

/** A text as a pattern that matches nothing else. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
