import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { fileURLToPath } from 'node:url';

const INSIDE = fileURLToPath(new URL('inside.ts', import.meta.url));
/** Its processes are the only ones that it sees, and end with the first of them. */
const NAMESPACE = ['unshare', '--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;
/** The port of the service as a program in its own network sees it. */
const PORT = 8787;
const RUN_MS_MAX = 60_000;

/** The address of the service for programs that run alone. */
export const ORIGIN = `http://127.0.0.1:${PORT}`;
/** The same with the path that most clients want in it. */
export const ADDRESS = `${ORIGIN}/v1`;

/** What is missing to run a program alone; undefined if nothing is. */
export const CANNOT_BE_ALONE: string | undefined =
  spawnSync(NAMESPACE[0], [...NAMESPACE.slice(1), 'ip', 'link', 'set', 'lo', 'up']).status === 0
    ? undefined
    : 'it needs `unshare` and `ip`, and a system that lets them make a network';

interface Alone {
  readonly program: string;
  readonly words: readonly string[];
  readonly directory: string;
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sees what the service answers, and may end the connection before it passes. */
  readonly watch?: ((part: Buffer, connection: Socket) => void) | undefined;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

let doors = 0;

/**
 * Runs a program of others in a network of its own, which reaches nothing but the service. A network has no part in
 * files, so a socket of the file system is the door.
 */
export async function runAlone(serviceUrl: string, alone: Alone): Promise<Ended> {
  const { program, words, directory, environment, watch } = alone;
  const socket = path.join(tmpdir(), `purser-door-${process.pid}-${(doors += 1)}`);
  const { hostname, port } = new URL(serviceUrl);
  const door = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    const watched = new Transform({
      transform: (part: Buffer, _encoding, done) => {
        watch?.(part, outer);
        done(null, outer.destroyed ? undefined : part);
      },
    });
    pipeline(inner, outer, watched, inner, () => {});
  }).listen(socket);
  await once(door, 'listening');
  try {
    const [first, ...others] = [...NAMESPACE, process.execPath, INSIDE, String(PORT), socket, program, ...words];
    const child = spawn(first ?? '', others, {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS_MAX,
      killSignal: 'SIGKILL',
    });
    const said = [collect(child, 'stdout'), collect(child, 'stderr')];
    const [code] = (await once(child, 'close')) as [number | null];
    const [out = '', err = ''] = said.map((read) => read());
    return { code, out, said: err };
  } finally {
    door.close();
  }
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[name]?.on('data', (part: Buffer) => void (text += part.toString('utf8')));
  return () => text;
}
