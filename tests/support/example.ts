import { type ChildProcessByStdio, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { ROOT } from '../../tools/toolchain.ts';
import { newProject, packSdk } from './sdk-package.ts';
import { waitUntil } from './wait-until.ts';

const READY = /The chat is at (\S+)\//;
const START_MS_MAX = 60_000;

/** The example app in a separate process, with the packed SDK installed beside it. */
export type Example = Awaited<ReturnType<typeof whenReady>>;

interface ExampleRun {
  readonly pid: number;
  readonly said: () => string;
  /** Its exit status, once it has ended. */
  readonly ended: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Lays out the example as `npm run example` finds it. Returns a function that starts it, any number of times. Everything ends with the file. */
export async function layOutExample(): Promise<(environment: Readonly<Record<string, string>>) => ExampleRun> {
  const { folder } = await newProject(await packSdk(), { type: 'module' }, ['openai']);
  cpSync(path.join(ROOT, 'examples'), path.join(folder, 'examples'), { recursive: true });
  symlinkSync(path.join(ROOT, 'packages'), path.join(folder, 'packages'), 'dir');
  return (environment) => {
    const child = spawn(process.execPath, ['examples/chat/main.ts'], optionsIn(folder, environment));
    return followRun(child, () => child.kill('SIGTERM'));
  };
}

/** The files in the root of a clone that the example's command needs. */
const CLONE = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'tools', 'packages', 'examples'];

/**
 * Runs `npm run example` in a copy of the repository, because the command builds the SDK and other test files may do so too. Its `stop`
 * is Ctrl-C, which reaches all of its processes.
 */
export function runExampleCommand(environment: Readonly<Record<string, string>>): ExampleRun {
  const clone = mkdtempSync(path.join(os.tmpdir(), 'purser-clone-'));
  after(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of CLONE) {
    cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true, filter: isSource });
  }
  const [installed, here] = [path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules')];
  mkdirSync(here);
  for (const name of readdirSync(installed)) {
    // Our own packages are the ones in the copy.
    if (name === '@purser') cpSync(path.join(installed, name), path.join(here, name), COPY_LINKS);
    else symlinkSync(path.join(installed, name), path.join(here, name));
  }
  const child = spawn('npm', ['run', 'example'], { ...optionsIn(clone, environment), detached: true });
  return followRun(child, () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGINT');
  });
}

function isSource(file: string): boolean {
  return path.basename(file) !== 'dist';
}

const COPY_LINKS = { recursive: true, verbatimSymlinks: true } as const;

function optionsIn(folder: string, environment: Readonly<Record<string, string>>) {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, CHAT_PORT: '0', ...environment };
  return { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env } as const satisfies SpawnOptions;
}

function followRun(child: ChildProcessByStdio<null, Readable, Readable>, end: () => void): ExampleRun {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  }
  const ended = once(child, 'close').then(([status]) => status as unknown);
  const stop = async (): Promise<void> => {
    end();
    await ended;
  };
  after(stop);
  return { pid: child.pid ?? 0, said: () => said, ended, stop };
}

/** Waits until it prints its address. */
export async function whenReady({ pid, said, ended, stop }: ExampleRun) {
  let isOver = false;
  void ended.then(() => (isOver = true));
  const url = await waitUntil(
    'the example is ready',
    () => {
      if (isOver) throw new Error(`The example has ended: ${said()}`);
      return READY.exec(said())?.[1];
    },
    START_MS_MAX,
  );
  return {
    /** The address as browsers find it. */
    url,
    /** The same, by its address. */
    address: `http://127.0.0.1:${new URL(url).port}`,
    pid,
    /** Everything that it has written so far. */
    said,
    stop,
  };
}

/** Forwards the example's requests to the service, and keeps the `state` of each connection that it begins. */
export async function standBetween(
  serviceUrl: string,
): Promise<{ readonly url: string; readonly states: readonly string[] }> {
  const states: string[] = [];
  const handOn = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(asked);
    if (asked.url === '/connect') states.push((JSON.parse(body) as { readonly state: string }).state);
    const { method = '', headers } = asked;
    const kept = ['authorization', 'x-service-user', 'content-type'].flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)] as [string, string]];
    });
    const answer = await fetch(`${serviceUrl}${asked.url}`, {
      method,
      headers: kept,
      body: method === 'POST' ? body : null,
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  };
  const server = createServer((asked, response) => void handOn(asked, response));
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, states };
}
