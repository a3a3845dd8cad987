import { outerEnvironment } from '../../support/outer-environment.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One life of a gateway process, from its start to its death. */
export interface Life {
  readonly pid: number;
  readonly startedAt: number;
  endedAt: number | undefined;
  /** When it stood still and when it was resumed. */
  readonly stops: { readonly from: number; to: number | undefined }[];
  /** When its database could not be reached. */
  readonly cuts: { readonly from: number; to: number | undefined }[];
}

/** `purser serve` in a separate process, as an operator runs it. */
export type GatewayProcess = ReturnType<typeof startGatewayProcess>;

interface StartOptions {
  readonly databaseUrl: string;
  /** The data directory, which is shared by all gateways of a history but the one that is cut off. */
  readonly dataDirectory: string;
  readonly catalogueFile: string;
  readonly logFile: string;
  /** The failpoint, as `name:hit:act`, see PURSER_FAILPOINT. */
  readonly failpoint: string | undefined;
  /** This is called when the failpoint is reached. */
  readonly onFailpoint: (name: string, act: string) => void;
}

const CLI = fileURLToPath(new URL('../../../packages/service/src/cli/main.ts', import.meta.url));
/** `npm start` has the first flag too. The second makes starts quicker. */
const NODE_FLAGS = ['--max-semi-space-size=32'];
const READY = /Purser is ready at (\S+)/;
const REACHED = /failpoint ([a-z.-]+): (kill|stop)/;

export function startGatewayProcess(options: StartOptions) {
  const child = spawnCli(options);
  const life: Life = { pid: child.pid ?? 0, startedAt: performance.now(), endedAt: undefined, stops: [], cuts: [] };
  const ready = Promise.withResolvers<string | undefined>();
  const ended = Promise.withResolvers<NodeJS.Signals | undefined>();
  const logFile = openSync(options.logFile, 'a'); // Stays open, because the directory may be gone before the last line.
  let said = '';
  let isReached = false;
  const read = (part: Buffer): void => {
    if (life.endedAt === undefined) writeSync(logFile, part);
    said = (said + part.toString('utf8')).slice(-20_000);
    const url = READY.exec(said)?.[1];
    if (url !== undefined) ready.resolve(url);
    const [, name, act] = REACHED.exec(said) ?? [];
    if (isReached || name === undefined || act === undefined) return;
    isReached = true;
    if (act === 'stop') life.stops.push({ from: performance.now(), to: undefined });
    options.onFailpoint(name, act);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('close', (_code, signal) => {
    life.endedAt = performance.now();
    closeSync(logFile);
    ready.resolve(undefined);
    ended.resolve(signal ?? undefined);
  });
  const signal = (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (name === 'SIGSTOP') life.stops.push({ from: performance.now(), to: undefined });
    child.kill(name);
    if (name === 'SIGCONT') for (const stop of life.stops) stop.to ??= performance.now();
  };
  return {
    life,
    /** Resolves when it is ready, or to undefined if it ended before that. */
    ready: ready.promise,
    /** Resolves to the signal that ended it, or undefined if it ended by itself. */
    ended: ended.promise,
    signal,
  };
}

function spawnCli(options: StartOptions): ChildProcess {
  const child = spawn(process.execPath, [...NODE_FLAGS, CLI, 'serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...outerEnvironment(),
      PORT: '0',
      PURSER_ENV: 'development',
      DATABASE_URL: options.databaseUrl,
      PURSER_DATA_DIR: options.dataDirectory,
      PURSER_CATALOGUE: options.catalogueFile,
      PURSER_LOG_LEVEL: 'info', // What callers were told is in it.
      PURSER_LOG_FORMAT: 'json',
      PURSER_WORKERS: '1',
      PURSER_FAILPOINT: options.failpoint ?? '',
    },
  });
  child.on('error', () => {}); // `close` reports it.
  return child;
}

/** Whether it could not reach its database at some time within a span. */
export function wasCut({ cuts }: Life, from: number, to: number): boolean {
  return cuts.some((cut) => cut.from <= to && (cut.to ?? to) >= from);
}

/** The longest time that it stood still within a span. */
export function longestStopMs({ stops, endedAt }: Life, from: number, to: number): number {
  const overlaps = stops.filter((stop) => stop.from <= to && (stop.to ?? endedAt ?? to) >= from);
  return Math.max(0, ...overlaps.map((stop) => (stop.to ?? endedAt ?? to) - stop.from));
}
