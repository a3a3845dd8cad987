import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pinned } from './processes.ts';
import type { Tools } from './tools.ts';
import type { Load } from './wrk.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('../paced/main.ts', import.meta.url));

/** An order of plain calls only, because an answer must tell its length. */
export interface PacedOrder extends Load {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface PacedResult {
  /** Answers that came, right or wrong. */
  readonly calls: number;
  /** Answers that were wrong, came not at all, or could not be asked for because too many others were under way. */
  readonly bad: number;
  /** The median time, in micros, from the moment at which a call was due to its answer. */
  readonly p50: number;
  readonly p99: number;
}

/** Makes calls on a fixed schedule, in a process of its own. */
export async function runPaced(
  order: PacedOrder,
  { tools, cores }: { readonly tools: Tools; readonly cores: string },
): Promise<PacedResult> {
  const words = [process.execPath, PROGRAM, JSON.stringify(order)] as const;
  const [program, ...args] = pinned(tools, cores, words);
  const { stdout } = await run(program, args);
  const found = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (found === undefined) throw new Error(`The load generator gave no result:\n${stdout}`);
  return JSON.parse(found) as PacedResult; // Written by benchmarks/paced/main.ts.
}
