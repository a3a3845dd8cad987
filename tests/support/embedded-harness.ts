import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { HostTool } from '../../packages/service/src/embedded/processes/command.ts';
import { startEmbeddedPostgres } from '../../packages/service/src/embedded/embedded-postgres.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';

export const isRoot = process.getuid?.() === 0;
export const isLinux = process.platform === 'linux';

/** No test measures how long this takes. The limit allows for a busy machine. */
const WAIT_MAX_MS = 60_000;

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Does something after the test, the latest first, so that servers stop before their directories are removed. */
export function afterwards(t: TestContext, act: () => unknown): void {
  const acts = cleanups.get(t) ?? [];
  if (acts.length === 0) {
    cleanups.set(t, acts);
    t.after(async () => {
      for (const next of acts.toReversed()) await next();
    });
  }
  acts.push(act);
}

/** A fresh directory that everyone may pass through, removed after the test. */
export function makeOpenDirectory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'purser-embedded-'));
  chmodSync(path, 0o711);
  afterwards(t, () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

/** A data directory on a path with spaces and a quote, in directories that only their owner may enter. */
export function makePrivateDataDirectory(t: TestContext): string {
  const parent = join(makeOpenDirectory(t), 'for me only', "purser's data");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  chmodSync(parent, 0o700);
  return join(parent, 'postgres');
}

/** Starts a server in this process. It is stopped after the test at the latest. */
export async function start(t: TestContext, directory: string, without: readonly HostTool[] = []) {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const server = await startEmbeddedPostgres({ directory, log: createLog('silent'), say, without });
  afterwards(t, server.stop);
  return { ...server, said };
}

/** The rows of one query on a separate connection. */
export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: WAIT_MAX_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export function postmasterPid(directory: string): number {
  return Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Returns true while the process runs. A zombie that waits for its parent does not count. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isLinux || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits for a condition, at most a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = AbortSignal.timeout(WAIT_MAX_MS);
  while (!(await holds())) {
    if (limit.aborted) throw new Error(`Not within ${WAIT_MAX_MS} ms: ${what}`);
    await sleep(20);
  }
}

/** Whether a server at the address answers queries now. */
export async function answersAt(url: string): Promise<boolean> {
  return await query(url, 'select 1').then(
    () => true,
    () => false,
  );
}

export type Owner = ReturnType<typeof runOwner>;

const OWNER = fileURLToPath(new URL('embedded-owner.ts', import.meta.url));

/** Runs embedded-owner.ts. */
export function runOwner(
  t: TestContext,
  options: {
    readonly directory: string;
    readonly without?: readonly HostTool[];
    readonly load?: boolean;
    readonly uid?: number;
    /** Whether it is started like a terminal's foreground job, which signals of the terminal reach as a whole. */
    readonly ownGroup?: boolean;
  },
) {
  const parameters = [options.directory, (options.without ?? []).join(), options.load === true ? 'load' : ''];
  const child = spawn(process.execPath, [OWNER, ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: options.ownGroup === true,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const acked: number[] = [];
  const { promise: answer, resolve } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('acked ')) acked.push(Number(line.slice(6)));
    else resolve(line);
  });
  child.once('exit', () => resolve('ended without a word'));
  const dismiss = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.stdin.end();
    await once(child, 'exit');
  };
  const crash = async (): Promise<void> => {
    child.stdin.write('crash');
    await once(child, 'exit');
  };
  afterwards(t, dismiss);
  return {
    child,
    /** The numbers whose insert the server has confirmed. */
    acked,
    /** The answer is `ready URL` or `refused MESSAGE`. */
    answer,
    /** Makes it stop its server and end. */
    dismiss,
    /** Makes it end as after a fault, without stopping its server. */
    crash,
  };
}

/** Kills the owner as the machine would when out of memory, and waits until it is gone. */
export async function killOwner({ child }: Owner): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Inserts numbers over eight connections, continues through outages, and records which ones were confirmed. */
export function startLoad(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  pool.on('error', () => undefined);
  const acked: number[] = [];
  const over = new AbortController();
  let next = 1;
  const insert = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const n = next;
      next += 1;
      await pool.query('insert into acked values ($1)', [n]).then(
        () => acked.push(n),
        () => sleep(10), // Not confirmed, so it may or may not be stored.
      );
    }
  };
  const workers = Array.from({ length: 8 }, insert);
  const stop = async (): Promise<void> => {
    if (over.signal.aborted) return;
    over.abort();
    await Promise.all(workers);
    await pool.end();
  };
  return { acked, stop };
}

/** The confirmed numbers that are missing from the table: none, if the server kept its word. */
export async function lostOf(acked: readonly number[], url: string): Promise<readonly number[]> {
  const found = new Set((await query(url, 'select n::int as n from acked')).map(({ n }) => n));
  return acked.filter((n) => !found.has(n));
}

/** Why a process of this user cannot run the service from here, or undefined if it can. */
export function cannotRunAs(uid: number): string | undefined {
  if (!isRoot) return 'needs root, to become another user';
  const { status } = spawnSync(process.execPath, ['--check', OWNER], { uid, gid: uid, cwd: '/' });
  return status === 0 ? undefined : `user ${uid} may not read this checkout`;
}
