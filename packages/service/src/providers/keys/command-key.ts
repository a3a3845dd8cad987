import { spawn } from 'node:child_process';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { createFetchedKey, KeyFault, keyIn } from '#providers/keys/fetched-key.ts';
import type { KeySource } from '#providers/keys/key-source.ts';

const RUN_MS_MAX = 10_000;
const OUTPUT_BYTES_MAX = 16 * 1024;
/** A command that fails is started again at most this often. */
const RETRY_MS = 5_000;

interface CommandKeyOptions {
  readonly name: string;
  /** An absolute path and arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  /** How long the output is used. */
  readonly seconds: number;
  /** The variables that the command gets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: SteadyClock;
  readonly runMsMax?: number;
}

/** A key that a program prints, such as the client of a secret store. Its output and its complaints are never logged. */
export function createCommandKey(options: CommandKeyOptions): KeySource {
  const { name, seconds, clock } = options;
  return createFetchedKey({
    name,
    isToken: false,
    fetch: async () => ({ key: keyIn(await outputOf(options)), lifeMs: seconds * 1000 }),
    intervalMs: RETRY_MS,
    clock,
  });
}

function outputOf({ command, environment, runMsMax = RUN_MS_MAX }: CommandKeyOptions): Promise<string> {
  const [program, ...words] = command;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // A process group of its own, so that a program that it started ends with it.
  const child = spawn(program, words, { env: environment, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let output = '';
  const giveUp = (why: string): void => {
    reject(new KeyFault(why));
    child.stdout.destroy();
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => giveUp(`its command took more than ${runMsMax / 1000} s`), runMsMax);
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    output += text;
    if (output.length > OUTPUT_BYTES_MAX) giveUp('its command printed too much');
  });
  child.on('error', () => reject(new KeyFault('its command cannot be started')));
  child.on('close', (status, signal) => {
    if (status === 0) resolve(output);
    else reject(new KeyFault(`its command ended with ${signal ?? `status ${status}`}`));
  });
  return promise.finally(() => clearTimeout(timer));
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
