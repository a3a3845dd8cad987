import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** A command of the toolchain with its arguments; `bin` is a script of `node_modules/.bin`. */
export interface Tool {
  readonly name: string;
  readonly bin: string;
  readonly args: readonly string[];
}

export interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly durationMs: number;
}

/** The root of the repository. */
export const ROOT = join(import.meta.dirname, '..');
const TOOL_TIMEOUT_MS = 170_000; // Below the time limit of a test, so that the output is still told.

/**
 * The type checkers are written in Go and collect their garbage whenever the heap has doubled: a fifth of their time, to save memory
 * that is free again seconds later. They take 1.6 GB without. Of several checkers, each checks again what the files of the others
 * share, and other work waits for their cores: with one, lint takes a fifth less processor time.
 */
const GO = { GOGC: 'off', GOMEMLIMIT: '3GiB', GOMAXPROCS: '1' };

/** What a check has read is kept, so the next one reads only files that have changed. */
export const KEPT = '.test-output';
/** The compiler's notes. */
export const TYPES_KEPT = `${KEPT}/types.tsbuildinfo`;
const INCREMENTAL = ['--incremental', '--tsBuildInfoFile', TYPES_KEPT];
const kept = (name: string): readonly string[] => ['--cache', '--cache-location', `${KEPT}/knip-${name}`];

/** What must be content with the repository. Each ends with a code other than 0 on its first finding. */
export const TOOLCHAIN: readonly Tool[] = [
  { name: 'types', bin: 'tsc', args: ['--pretty', 'false', '--checkers', '1', ...INCREMENTAL] },
  { name: 'lint', bin: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', bin: 'biome', args: ['format', '.'] },
  {
    name: 'unused',
    bin: 'knip',
    args: ['--treat-config-hints-as-errors', '--treat-tag-hints-as-errors', ...kept('unused')],
  },
  // A file of the service that only tests reach is unused too.
  {
    name: 'unreached',
    bin: 'knip',
    args: ['--production', '--include', 'files', '--workspace', 'packages/service', ...kept('unreached')],
  },
];

export function runTool({ bin, args }: Tool): Promise<Outcome> {
  const program = join(ROOT, 'node_modules', '.bin', bin);
  return runNode({ args: [program, ...args], cwd: ROOT, timeoutMs: TOOL_TIMEOUT_MS, environment: GO });
}

export interface NodeRun {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Settings that are added to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a script by the Node that runs this one, and collects what it prints on either stream. */
export async function runNode({ args, cwd, timeoutMs, environment }: NodeRun): Promise<Outcome> {
  const startMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  let output = '';
  const collect = (text: string): void => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject).once('close', (code, signal) => {
    if (signal !== null) collect(`\nEnded by ${signal}; the limit is ${timeoutMs / 1000} s.\n`);
    resolve(code ?? 1);
  });
  return { code: await promise, output, durationMs: performance.now() - startMs };
}
