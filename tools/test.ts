import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, readdirSync, rmSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { needsDatabase, promiseFiles } from './test-files.ts';
import type { Plan } from './test-run.ts';

/** Half of what it takes to load the service is its compilation, which is the same in each file. */
const COMPILE_CACHE = join(import.meta.dirname, '..', '.test-output', 'compile-cache');
const COMPILE_CACHE_ENTRIES_MAX = 20_000; // A full run makes about 4,000, some 30 MB.
const TEST_TIMEOUT_SECONDS = 180; // On a slow machine, the lint with types took 111 beside other tests.
const RUN_SECONDS_MAX = 20 * 60;
const DAY_SECONDS = 24 * 60 * 60; // A timer cannot hold much more.
const GRACE_MS = 15_000; // For the runner to name what it was at, and to take down what the global setup started.
// Ctrl-C comes twice, from the terminal and from npm. The runner would take down the global setup twice at a time and exit
// with the quicker one; only a later signal means that patience has ended.
const SIGNAL_REPEATS_MS = 1000;
const USAGE = `npm test -- [options] [file, folder or glob]...
  -t <pattern>       only tests whose name matches
  --fast             only tests that need no database
  --without <path>   leaves out a file or folder; may be given again
  --rounds <n>       how often a test that repeats itself does so, and so much more time for each test
  --timeout <seconds> how much time each test has (${TEST_TIMEOUT_SECONDS})
  --limit <seconds>  ends the run after so long (${RUN_SECONDS_MAX})
  --keep-timings     writes how long each file took to tools/test-timings.json, by which later runs order files`;

interface Choice {
  readonly files: readonly string[];
  readonly pattern: string | undefined;
  readonly limitSeconds: number;
  readonly timeoutSeconds: number;
  /** How many rounds to run. If it is undefined, the tests run as often as they themselves say. */
  readonly rounds: number | undefined;
  readonly keepsTimings: boolean;
}

// What `npm test` runs: the tests of the folder that it is started in, by the Node that runs it.
const choice = choose(process.argv.slice(2));
const run = start(choice);
passOnSignals(run);
limit(run, choice.limitSeconds);

/** The tests that the arguments ask for. Arguments that ask for none are a mistake, never an empty success. */
function choose(args: readonly string[]): Choice {
  const { values, positionals } = parse(args);
  const leftOut = values.without.map(withoutSlash);
  const isLeftOut = (file: string): boolean =>
    (values.fast && needsDatabase(file)) || leftOut.some((path) => file === path || file.startsWith(`${path}/`));
  const files = new Set<string>();
  const found = positionals.length === 0 ? promiseFiles() : positionals.flatMap(filesOf);
  for (const file of found) if (!isLeftOut(file)) files.add(file);
  if (files.size === 0) stop(`No test file is left to run in ${process.cwd()}.`);
  const [limitSeconds, timeoutSeconds] = [Number(values.limit), Number(values.timeout)];
  for (const [name, seconds] of Object.entries({ limit: limitSeconds, timeout: timeoutSeconds })) {
    if (!(seconds > 0 && seconds <= DAY_SECONDS)) stop(`\`--${name}\` is a number of seconds.\n\n${USAGE}`);
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) stop(`\`--rounds\` is a number.\n\n${USAGE}`);
  const { pattern, 'keep-timings': keepsTimings } = values;
  return { files: [...files].toSorted(), pattern, limitSeconds, timeoutSeconds, rounds, keepsTimings };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        pattern: { type: 'string', short: 't' },
        fast: { type: 'boolean', default: false },
        timeout: { type: 'string', default: String(TEST_TIMEOUT_SECONDS) },
        limit: { type: 'string', default: String(RUN_SECONDS_MAX) },
        without: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        'keep-timings': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function filesOf(asked: string): readonly string[] {
  const found = globSync(isFolder(asked) ? `${withoutSlash(asked)}/**/*.test.ts` : asked);
  if (found.length === 0) stop(`No test file matches ${asked}.`);
  return found;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function withoutSlash(path: string): string {
  return path.replace(/^\.\//, '').replace(/\/+$/, '');
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}

function start({ files, pattern, timeoutSeconds, rounds, keepsTimings }: Choice): ChildProcess {
  const plan: Plan = { files, pattern, timeoutMs: timeoutSeconds * 1000 * (rounds ?? 1), keepsTimings };
  const args = [join(import.meta.dirname, 'test-run.ts'), JSON.stringify(plan)];
  pruneCompileCache();
  // Set where a test runs this file: the runner would take itself for a test of the outer run.
  const { NODE_TEST_CONTEXT: _outer, ...outer } = process.env;
  const env = {
    ...outer,
    NODE_COMPILE_CACHE: outer['NODE_COMPILE_CACHE'] ?? COMPILE_CACHE,
    ...(rounds === undefined ? {} : { PURSER_TEST_ROUNDS: String(rounds) }),
  };
  // A process group of its own: a signal then comes once, from here, and what outlives the runner can be ended.
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  child.once('error', (error) => stop(`The test runner could not be started: ${error.message}`));
  child.once('exit', (code, signal) => {
    endGroup(child, 'SIGKILL'); // Nothing that a test started stays behind.
    process.exitCode ??= code ?? 128 + (signal === null ? 0 : constants.signals[signal]); // As shells have it.
    process.exit();
  });
  return child;
}

/** Tests with folders of their own leave entries in it that nobody needs again. */
function pruneCompileCache(): void {
  if (!existsSync(COMPILE_CACHE)) return;
  if (readdirSync(COMPILE_CACHE, { recursive: true }).length > COMPILE_CACHE_ENTRIES_MAX) {
    rmSync(COMPILE_CACHE, { recursive: true, force: true });
  }
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process is left in the group.
  }
}

function passOnSignals(child: ChildProcess): void {
  let firstAtMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (firstAtMs === undefined) {
        firstAtMs = performance.now();
        child.kill(signal); // To the runner alone: it ends its tests and takes down the global setup.
      } else if (performance.now() - firstAtMs > SIGNAL_REPEATS_MS) endGroup(child, 'SIGKILL');
    });
  }
}

function limit(child: ChildProcess, seconds: number): void {
  setTimeout(() => {
    console.error(`\nThe tests have run for ${seconds} s, which is the limit. What was under way is named below.`);
    process.exitCode = 124; // As the command `timeout` has it.
    child.kill('SIGTERM');
    setTimeout(() => endGroup(child, 'SIGKILL'), GRACE_MS).unref();
  }, seconds * 1000).unref();
}
