import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { waitUntil } from '../../support/wait-until.ts';

const START_MS_MAX = 180_000;

/** A program that listens at a port of this machine. */
export type Program = Awaited<ReturnType<typeof startProgram>>;

interface Start {
  readonly command: string;
  readonly words: readonly string[];
  readonly port: number;
  /** Where it answers 200 as soon as it can serve. Without it, an open port is enough. */
  readonly readyPath?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The directory for the file of what the program says. */
  readonly directory: string;
  readonly name: string;
}

/** Starts a program and waits until it accepts connections at its port. */
export async function startProgram({ command, words, port, readyPath, environment, directory, name }: Start) {
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const said = createWriteStream(path.join(directory, `${name}.log`));
  child.stdout.pipe(said, { end: false });
  child.stderr.pipe(said, { end: false });
  await waitUntil(
    `${name} listens`,
    async () => {
      if (hasEnded(child)) throw new Error(`${name} ended: see ${name}.log`);
      return isReady(port, readyPath);
    },
    START_MS_MAX,
  );
  return {
    port,
    stop: async () => {
      if (hasEnded(child)) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(killing);
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Returns true if the program takes connections, and answers a request to `readyPath` if there is one. */
async function isReady(port: number, readyPath: string | undefined): Promise<boolean> {
  try {
    if (readyPath !== undefined) return (await fetch(`http://127.0.0.1:${port}${readyPath}`)).ok;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    return true;
  } catch {
    return false;
  }
}

/** A port that nobody uses now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A port of this machine has a number.');
  return address.port;
}

/** Runs a command to its end. Throws with what it said if it fails. */
export function run(command: string, words: readonly string[], directory: string): void {
  const { status, stderr } = spawnSync(command, words, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words[0] ?? ''} failed: ${stderr}`);
}

/** Returns true if a program can be started by this name. */
export function isInstalled(command: string, word = '-v'): boolean {
  return spawnSync(command, [word], { stdio: 'ignore' }).error === undefined;
}
