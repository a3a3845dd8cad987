import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import type { Log } from '#kernel/log.ts';

const RESTART_DELAY_MS = 500;
const STOP_MS_MAX = 2_000;

/** The provider simulator in a process of its own. */
export interface SimulatorProcess {
  /** The base URL of its OpenAI-compatible API. It stays the same after a restart. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the simulator and restarts it when it dies. Its standard input is a pipe to us, so it ends by itself when this
 * process does, even after a kill.
 */
export async function startSimulator(log: Log): Promise<SimulatorProcess> {
  const program = fileURLToPath(import.meta.resolve('@purser/simulator/main.ts'));
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  let child: ChildProcess;

  async function launch(port: number): Promise<number> {
    child = spawn(process.execPath, [program, '--port', String(port)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // In a process group of its own: Ctrl-C must not stop it before us, because running calls still need it.
      detached: true,
    });
    const actual = await portOf(child);
    child.once('exit', () => {
      if (isStopping) return;
      log.error('the provider simulator ended and is restarted');
      restart = setTimeout(() => {
        launch(actual).catch(() => log.error('the provider simulator could not be restarted'));
      }, RESTART_DELAY_MS);
    });
    return actual;
  }

  const port = await launch(0);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: async () => {
      isStopping = true;
      clearTimeout(restart);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX); // In case it does not react.
      child.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Reads the port from the simulator's first line of output. */
function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('The provider simulator ended before it was ready.')));
    if (child.stdout === null) return reject(new Error('The provider simulator has no output.'));
    createInterface(child.stdout).once('line', (line) => {
      const ready = parseJson(line);
      if (isJsonObject(ready) && typeof ready['port'] === 'number') resolve(ready['port']);
      else reject(new Error('The provider simulator did not report its port.'));
    });
  });
}
