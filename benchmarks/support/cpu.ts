// What processes have used, from Linux's process table.
import { readdirSync, readFileSync } from 'node:fs';

/** Whether processor time and memory can be told at all. */
export const HAS_PROC = process.platform === 'linux';

/** The kernel's unit of processor time in /proc, on every architecture that Node runs on. */
const TICKS_A_SECOND = 100;
const FIELD = { parent: 1, user: 11, system: 12, endedUser: 13, endedSystem: 14 };

/**
 * Returns the processor time in microseconds that all threads of a process and of all its descendants have used so far,
 * including descendants that have ended and were waited for. It grows in steps of 10 ms. It is NaN where there is no
 * such table.
 */
export function cpuMicrosOf(pid: number): number {
  if (!HAS_PROC) return Number.NaN;
  let ticks = 0;
  for (const member of treeOf(pid)) {
    const fields = readStat(member);
    if (fields === undefined) continue;
    for (const field of [FIELD.user, FIELD.system, FIELD.endedUser, FIELD.endedSystem]) ticks += Number(fields[field]);
  }
  return (ticks * 1_000_000) / TICKS_A_SECOND;
}

/** The same of one process without those that descend from it. 0 if it has ended. */
export function cpuMicrosOfOne(pid: number): number {
  if (!HAS_PROC) return Number.NaN;
  const fields = readStat(pid);
  const ticks = fields === undefined ? 0 : Number(fields[FIELD.user]) + Number(fields[FIELD.system]);
  return (ticks * 1_000_000) / TICKS_A_SECOND;
}

/** What all of them hold in memory, shared pages counted once, in bytes. NaN where there is no such table. */
export function memoryOf(pid: number): number {
  if (!HAS_PROC) return Number.NaN;
  let bytes = 0;
  for (const member of treeOf(pid)) bytes += proportionalBytes(member);
  return bytes;
}

function proportionalBytes(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1024;
  } catch {
    return 0; // It has ended since the table was read.
  }
}

/** Returns the processor time in microseconds that the whole machine has used so far. */
function machineMicros(): number {
  if (!HAS_PROC) return Number.NaN;
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, _idle, _wait, irq = 0, softIrq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map((ticks) => (Number(ticks) * 1_000_000) / TICKS_A_SECOND);
  return user + nice + system + irq + softIrq + steal;
}

/** Tells, when asked, how much of a core in percent processes other than ours have used since. */
export function watchOthers(): () => number {
  const before = readOthers();
  return () => {
    const after = readOthers();
    return ((after.usedMicros - before.usedMicros) / (after.wallMicros - before.wallMicros)) * 100;
  };
}

function readOthers(): { readonly usedMicros: number; readonly wallMicros: number } {
  return { usedMicros: machineMicros() - cpuMicrosOf(process.pid), wallMicros: performance.now() * 1_000 };
}

/** The process and all that descend from it. */
function treeOf(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(readStat(Number(name))?.[FIELD.parent]);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [Number(name)]);
    else siblings.push(Number(name));
  }
  const found = [root];
  for (const member of found) found.push(...(children.get(member) ?? []));
  return found;
}

/** The fields after the name, which may hold blanks and brackets: state, parent, ... */
function readStat(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
