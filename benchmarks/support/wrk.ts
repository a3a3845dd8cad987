import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pinned } from './processes.ts';
import type { Tools } from './tools.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));

/** What is sent, and what a right answer holds. Every call is made for the next user. */
export interface Load {
  readonly url: string;
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The keys take the users in turn: `user-n` calls with the key at the index n modulo the number of keys. */
  readonly keys: readonly string[];
  readonly users: number;
  readonly expected: string;
}

interface WrkOptions {
  readonly tools: Tools & { readonly wrk: string };
  readonly cores: string;
  readonly directory: string;
  readonly connections: number;
  readonly seconds: number;
  /** Looks into every answer, which slows the generator down: for warm-ups. */
  readonly checks: boolean;
}

export interface WrkResult {
  /** Answers that came, right or wrong. */
  readonly calls: number;
  /** The bytes of all answers, including their heads. */
  readonly bytes: number;
  readonly micros: number;
  /** Answers that are none of: not a 200, or without the expected text (only told where answers are looked into). */
  readonly bad: number;
  /** Statuses of 400 and above. */
  readonly refused: number;
  /** Connections that failed. */
  readonly broken: number;
  readonly late: number;
  /** Micros. */
  readonly p50: number;
  readonly p99: number;
}

export async function runWrk(load: Load, options: WrkOptions): Promise<WrkResult> {
  const settings = path.join(options.directory, 'load-settings.lua');
  writeFileSync(settings, settingsOf(load, options.checks));
  const [program, ...args] = pinned(options.tools, options.cores, [
    options.tools.wrk,
    '--threads=1',
    `--connections=${options.connections}`,
    `--duration=${options.seconds}s`,
    '--timeout=10s',
    `--script=${SCRIPT}`,
    load.url,
    '--',
    settings,
  ]);
  const { stdout } = await run(program, args, { maxBuffer: 1_000_000 });
  const found = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (found === undefined) throw new Error(`wrk gave no result:\n${stdout}`);
  return JSON.parse(found) as WrkResult; // Written by load.lua.
}

function settingsOf(load: Load, checks: boolean): string {
  const headers = Object.entries(load.headers ?? {}).map(([name, value]) => `[${quoted(name)}]=${quoted(value)}`);
  return `return {
  path = ${quoted(load.path)},
  body = ${quoted(load.body)},
  headers = {${headers.join(', ')}},
  keys = {${load.keys.map(quoted).join(', ')}},
  users = ${load.users},
  expected = ${quoted(load.expected)},
  checks = ${checks},
}
`;
}

/** A string of Lua: what JSON escapes with one letter, Lua does as well; texts here hold nothing else. */
function quoted(text: string): string {
  if (!/^[\n\x20-\x7e]*$/.test(text)) throw new Error('Loads are written in ASCII.');
  return JSON.stringify(text);
}
