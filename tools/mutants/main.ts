import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readTree } from '../structure/read-tree.ts';
import { ROOT } from '../toolchain.ts';
import { judgeMutants, type Verdict } from './judge.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const JOBS_MAX = 8; // Each has a PostgreSQL server of its own.
const USAGE = `npm run proofs -- mutants [options]
  --only <id>   plants only this one; may be given again
  --jobs <n>    how many at once (a core each, at most ${JOBS_MAX})`;

// What `npm run proofs -- mutants` runs: each fault by itself, and whether its test notices.
const { mutants, jobs } = choose(process.argv.slice(2));
const idWidth = Math.max(...mutants.map(({ id }) => id.length));
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
const startMs = performance.now();
try {
  const { signal } = stopping;
  const verdicts = await judgeMutants({ root: ROOT, files: readTree(ROOT), mutants, jobs, signal, onVerdict: print });
  conclude(verdicts);
} catch (fault) {
  console.error(fault instanceof Error ? fault.message : String(fault));
  process.exitCode = 1;
}

function choose(args: readonly string[]): { readonly mutants: readonly Mutant[]; readonly jobs: number } {
  const { only, jobs: asked } = parse(args);
  const unknown = only.filter((id) => MUTANTS.every((mutant) => mutant.id !== id));
  if (unknown.length > 0) stop(`There is no mutant ${unknown.join(', ')}.`);
  const count = asked === undefined ? availableParallelism() : Number(asked);
  if (!Number.isInteger(count) || count < 1) stop(`\`--jobs\` is a whole number above zero.\n\n${USAGE}`);
  const chosen = MUTANTS.filter(({ id }) => only.length === 0 || only.includes(id));
  return { mutants: chosen, jobs: Math.min(count, JOBS_MAX, chosen.length) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { only: { type: 'string', multiple: true, default: [] }, jobs: { type: 'string' } },
    }).values;
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}

function print({ mutant, isKilled, reason, seconds }: Verdict): void {
  const { id, clause, killer } = mutant;
  const what = isKilled ? killer.name : `not killed by "${killer.name}": ${reason}`;
  console.log(`${isKilled ? '✔' : '✖'} ${id.padEnd(idWidth)}  ${clause}  ${seconds.toFixed(1).padStart(5)} s  ${what}`);
}

function conclude(verdicts: readonly Verdict[]): void {
  const alive = verdicts.filter(({ isKilled }) => !isKilled);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  console.log(`\n${verdicts.length} mutants, ${verdicts.length - alive.length} killed, in ${seconds} s.`);
  if (alive.length > 0) {
    console.log(`Not killed: ${alive.map(({ mutant }) => mutant.id).join(', ')}.`);
    process.exitCode = 1;
  }
}
