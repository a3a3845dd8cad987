import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { outerEnvironment } from '../../support/outer-environment.ts';

/** One of the gateways, which is restarted on its port, also as another version. */
export type Gateway = Awaited<ReturnType<typeof createGateway>>;

export interface GatewayOptions {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

const START_MS_MAX = 120_000;
/** The flags are those of `npm start`. */
const NODE_FLAGS = ['--max-semi-space-size=32'];

export async function createGateway({ directory, environment }: GatewayOptions) {
  mkdirSync(directory, { recursive: true });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let said = '';
  let complaints = new Map<string, number>();

  function read(line: string): void {
    said = `${said}${line}\n`.slice(-20_000);
    const complaint = complaintIn(line);
    if (complaint !== undefined) complaints.set(complaint, (complaints.get(complaint) ?? 0) + 1);
  }

  async function stop(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async function start(root: string): Promise<void> {
    const process = spawnPurser(root, ['serve'], { ...environment, PORT: String(port), PURSER_DATA_DIR: directory });
    child = process;
    for (const stream of [process.stdout, process.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', read);
    }
    await waitUntil(
      `the gateway at ${url} is ready`,
      async () => {
        if (process.exitCode !== null) throw new Error(`The gateway ended: ${said}`);
        return fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      },
      START_MS_MAX,
    );
  }

  return {
    url,
    stop,
    /** The warnings and errors of its log since this was last asked, and how often it wrote each. */
    complaints: () => {
      const heard = complaints;
      complaints = new Map();
      return heard;
    },
    /** Ends its process, if there is one, starts one of the version in `root`, and waits until it is ready. */
    restart: async (root: string) => {
      const from = performance.now();
      await stop();
      const ended = performance.now();
      await start(root);
      return { stopped: (ended - from) / 1_000, started: (performance.now() - ended) / 1_000 };
    },
  };
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly fault?: { readonly message: string };
}

/**
 * Returns the complaint of a line of the log. It returns undefined for any other line. Lines that are no JSON announce
 * a start or a stop.
 */
function complaintIn(line: string): string | undefined {
  if (!line.startsWith('{"')) return undefined;
  const { level, msg, fault } = JSON.parse(line) as LogLine;
  if (level !== 'warn' && level !== 'error') return undefined;
  return `${level}: ${msg}${fault === undefined ? '' : ` (${fault.message})`}`;
}

/** Runs a command of the version in `root`. */
export function spawnPurser(
  root: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const program = path.join(root, 'packages/service/src/cli/main.ts');
  const options = {
    cwd: root,
    env: { ...outerEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'] as const,
  };
  return spawn(process.execPath, [...NODE_FLAGS, program, ...words], { ...options, stdio: [...options.stdio] });
}
