import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { ROOT } from '../../tools/toolchain.ts';
import { newProject, packSdk } from './sdk-package.ts';
import { waitUntil } from './wait-until.ts';

const READY = /The chat is at (\S+)\//;
const START_MS_MAX = 60_000;

/** The example app in a process of its own, with the packed SDK installed beside it. */
export interface Example {
  /** As browsers find it. */
  readonly url: string;
  /** The same, by its address. */
  readonly address: string;
  /** All that it has written so far. */
  readonly said: () => string;
  readonly stop: () => Promise<void>;
}

interface ExampleRun {
  readonly said: () => string;
  /** Its exit status, once it has ended. */
  readonly ended: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Lays out the example as `npm run example` finds it. Gives what starts it, as often as is wanted; all ends with the file. */
export async function layOutExample(): Promise<(environment: Readonly<Record<string, string>>) => ExampleRun> {
  const { folder } = await newProject(await packSdk(), { type: 'module' }, ['openai']);
  cpSync(path.join(ROOT, 'examples'), path.join(folder, 'examples'), { recursive: true });
  symlinkSync(path.join(ROOT, 'packages'), path.join(folder, 'packages'), 'dir');
  return (environment) => {
    const child = spawn(process.execPath, ['examples/chat/main.ts'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', CHAT_PORT: '0', ...environment },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => void (said += part.toString('utf8')));
    }
    const ended = once(child, 'close').then(([status]) => status as unknown);
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
    };
    after(stop);
    return { said: () => said, ended, stop };
  };
}

/** Waits until it says where it is. */
export async function whenReady({ said, ended, stop }: ExampleRun): Promise<Example> {
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
  return { url, address: `http://127.0.0.1:${new URL(url).port}`, said, stop };
}

/** Hands on what the example asks of the service, and keeps the `state` of each way that it begins. */
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
