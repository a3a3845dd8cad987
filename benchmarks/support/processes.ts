import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tools } from './tools.ts';

/** A process of a benchmark, on the cores that it was given. */
export interface Running {
  readonly pid: number;
  /** What the pattern found in its output: an address, as a rule. */
  readonly ready: string;
  readonly stop: () => Promise<void>;
}

interface StartOptions {
  readonly tools: Tools;
  /** The cores, as `taskset -c` takes them. Where there is no `taskset`, the process may use all cores. */
  readonly cores: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Its output says so when it answers; the first group is what `ready` becomes. */
  readonly isReady: RegExp;
  /** The time that the start may take, a minute by default. */
  readonly startMsMax?: number;
}

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 40_000;
const SAID_KEPT = 20_000;

/** Starts a program and waits until it says that it is ready. It ends with this process at the latest. */
export async function start(options: StartOptions): Promise<Running> {
  const [program, ...args] = pinned(options.tools, options.cores, [options.program, ...options.args]);
  const { NODE_TEST_CONTEXT: _tests, DATABASE_URL: _database, ...outer } = process.env;
  const environment = Object.fromEntries(Object.entries(outer).filter(([name]) => !name.startsWith('PURSER_')));
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment, ...options.environment },
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
  });
  let said = '';
  const onOutput = (part: Buffer) => void (said = (said + part.toString('utf8')).slice(-SAID_KEPT));
  child.stdout.on('data', onOutput);
  child.stderr.on('data', onOutput);
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => {});
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  for (let waited = 0; ; waited += 20) {
    const found = options.isReady.exec(said);
    if (found !== null) return { pid: child.pid ?? 0, ready: found[1] ?? '', stop: () => stop(child) };
    if (isOver() || waited > (options.startMsMax ?? START_MS_MAX)) {
      await stop(child);
      throw new Error(`${options.program} ${options.args.join(' ')} did not start:\n${said}`);
    }
    await Promise.race([sleep(20), failed]);
  }
}

/** The words of a command that runs on these cores alone. */
export function pinned(
  { taskset }: Tools,
  cores: string,
  words: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return taskset === undefined ? words : [taskset, '-c', cores, ...words];
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

/** Keeps this process, and so all that it starts without other cores, on these. */
export function pinSelf({ taskset }: Tools, cores: string): void {
  if (taskset !== undefined) execFileSync(taskset, ['-a', '-c', '-p', cores, String(process.pid)], { stdio: 'ignore' });
}
