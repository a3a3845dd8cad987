// Measures what a call costs, beside a proxy that does nothing and a gateway that charges nothing: `npm run bench`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chartOf } from './chart.ts';
import type { Bench, Measure, Row } from './measure.ts';
import { alone } from './measures/alone.ts';
import { check } from './measures/check.ts';
import { growth } from './measures/growth.ts';
import { channels } from './measures/channels.ts';
import { latency, latencySlow } from './measures/latency.ts';
import { ledger } from './measures/ledger.ts';
import { money } from './measures/money.ts';
import { openStreams } from './measures/open-streams.ts';
import { plain, plainFew } from './measures/plain.ts';
import { processes } from './measures/processes.ts';
import { streamed } from './measures/streamed.ts';
import { translated } from './measures/translated.ts';
import { tls } from './measures/tls.ts';
import { wires } from './measures/wires.ts';
import { findingsOf } from './ratios.ts';
import { jsonOf, markdownOf, type Report } from './report.ts';
import { HAS_PROC, watchOthers } from './support/cpu.ts';
import { openCheckout } from './support/checkout.ts';
import { type Ground, startGround } from './support/ground.ts';
import { pinSelf } from './support/processes.ts';
import { describePlacement, findTools, foldersOf, HOW_TO_GET, placement, type Tools } from './support/tools.ts';

const MEASURES: readonly Measure[] = [
  plain,
  plainFew,
  alone,
  latencySlow,
  latency,
  money,
  streamed,
  translated,
  wires,
  ledger,
  check,
  openStreams,
  processes,
  channels,
  tls,
  growth,
];
const USERS = 10_000;
const RESULTS = fileURLToPath(new URL('results', import.meta.url));

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    scale: { type: 'boolean', default: false },
    out: { type: 'string' },
    tools: { type: 'string' },
    beside: { type: 'string' },
  },
});

const chosen = chooseMeasures(values.only, values.scale);
const tools = findTools(values.tools === undefined ? foldersOf(process.env['PATH'] ?? '') : [values.tools]);
const missing = new Map<string, string>();
const notes = new Map<string, string[]>();
const results = new Map<string, readonly Row[]>();
const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-bench-'));
const beside = values.beside === undefined ? undefined : await openCheckout(values.beside);
let ground: Promise<Ground> | undefined;

tellMissingTools();
pinSelf(tools, placement().load);
const othersPercent = watchOthers();
let ended: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void end().finally(() => process.exit(1)));
}
try {
  for (const measure of chosen) results.set(measure.name, await runMeasure(measure));
} finally {
  await end();
}
const report: Report = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${os.cpus().length} cores (${os.cpus()[0]?.model.trim()}), ${os.type()} ${os.release()}, Node ${process.version}`,
  rounds: count(values.rounds),
  seconds: count(values.seconds),
  placement: describePlacement(placement(), tools),
  measures: chosen.map(({ name, title }) => ({ name, title })),
  results,
  notes,
  missing: [...missing].map(([what, how]) => ({ what, how })),
  othersPercent: othersPercent(),
};
console.log(markdownOf(report));
// A part of a run is no record of it, unless that is asked for.
const out = values.out ?? (values.only === undefined ? RESULTS : undefined);
if (out !== undefined) write(report, out);

/** Stops everything and leaves nothing behind. Twice is the same as once. */
function end(): Promise<void> {
  return (ended ??= stopEverything());
}

async function stopEverything(): Promise<void> {
  await (await ground?.catch(() => undefined))?.close();
  rmSync(directory, { recursive: true, force: true });
}

function chooseMeasures(only: readonly string[] | undefined, withScale: boolean): readonly Measure[] {
  const names = MEASURES.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    console.error(`There is no measure ${unknown}. There are ${names.join(', ')}.`);
    process.exit(2);
  }
  return MEASURES.filter(({ name, isScale }) => only?.includes(name) ?? (withScale || isScale !== true));
}

function tellMissingTools(): void {
  for (const name of ['nginx', 'wrk', 'taskset'] as const) {
    if (tools[name] === undefined) tellMissing(name, HOW_TO_GET[name]);
  }
  if (!HAS_PROC) tellMissing('processor time and memory', 'they are read from /proc, which only Linux has');
}

function tellMissing(what: string, how: string): void {
  if (!missing.has(what)) console.error(`Missing: ${what} (${how}).`);
  missing.set(what, how);
}

/** Nothing where it failed: the others go on. */
async function runMeasure({ name, title, run }: Measure): Promise<readonly Row[]> {
  console.error(`\n${title}`);
  const own: string[] = [];
  notes.set(name, own);
  try {
    return await run(benchOf(tools, own));
  } catch (fault) {
    const told = fault instanceof Error ? fault.message : String(fault);
    console.error(fault);
    tellMissing(`the measure \`${name}\``, `it failed: ${told}`);
    process.exitCode = 1;
    return [];
  }
}

function benchOf(found: Tools, own: string[]): Bench {
  return {
    tools: found,
    directory,
    beside,
    rounds: count(values.rounds),
    seconds: count(values.seconds),
    ground: () => (ground ??= startGround({ tools: found, directory, users: USERS, beside, missing: tellMissing })),
    say,
    missing: tellMissing,
    note: (text) => {
      own.push(text);
      say(text);
    },
  };
}

function say(text: string): void {
  console.error(`  ${text}`);
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${text} is no whole number above zero.`);
}

function write(told: Report, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const base = path.join(folder, told.date);
  writeFileSync(`${base}.md`, `${markdownOf(told)}\n![chart](${told.date}.svg)\n`);
  writeFileSync(`${base}.json`, jsonOf(told));
  writeFileSync(`${base}.svg`, chartOf(findingsOf(told.results), told.date));
  console.error(`Written: ${base}.md, .json and .svg`);
}
