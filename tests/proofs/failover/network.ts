// Several machines on one: each has a network of its own with an address, and all are on one switch. It needs no rights but those
// of the namespaces that main.ts makes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createWriteStream, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { waitUntil } from '../../support/wait-until.ts';
import { outerEnvironment } from '../../support/outer-environment.ts';

export type Machine = Awaited<ReturnType<typeof addMachine>>;

interface StartOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** In its own eyes the program runs as nobody. PostgreSQL refuses root. */
  readonly asNobody?: boolean;
}

/** Which processes of a machine are meant, by their words. */
type Which = (words: string) => boolean;

/** The address of this process, from which callers call. */
const OWN_ADDRESS = '10.0.0.254';
const SWITCH = 'switch';
/** Belongs to no machine, so what is sent there is lost. */
const NOWHERE = '02:00:00:00:00:ff';
const NOBODY = '65534';
const ALL: Which = () => true;

export function layNetwork(): void {
  ip('link', 'set', 'lo', 'up');
  ip('link', 'add', SWITCH, 'type', 'bridge');
  ip('addr', 'add', `${OWN_ADDRESS}/24`, 'dev', SWITCH);
  ip('link', 'set', SWITCH, 'up');
}

/** A machine that runs nothing yet. */
export async function addMachine(name: string, address: string) {
  const holder = spawn('unshare', ['--net', '--mount', 'sleep', 'infinity'], { stdio: 'ignore' });
  const pid = holder.pid ?? 0;
  await waitUntil(`${name} has a network`, () => wordsOf(pid).startsWith('sleep'));
  const network = networkOf(pid);
  ip('link', 'add', `to-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
  ip('link', 'set', `to-${name}`, 'master', SWITCH, 'up');
  inside(pid, 'ip', 'link', 'set', 'lo', 'up');
  inside(pid, 'ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  inside(pid, 'ip', 'link', 'set', 'eth0', 'up');
  // PostgreSQL's socket, which three servers of one machine would otherwise share.
  inside(pid, 'mount', '-t', 'tmpfs', '-o', 'mode=1777', 'sockets', '/run/postgresql');
  holders.set(name, pid);

  const meant = (which: Which): readonly number[] => {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return pids.filter((id) => id !== pid && networkOf(id) === network && wordsOf(id) !== '' && which(wordsOf(id)));
  };
  /** Returns how many there were. */
  const signal = (kind: NodeJS.Signals, which: Which): number => {
    const pids = meant(which);
    for (const id of pids) tryKill(id, kind);
    return pids.length;
  };
  return {
    name,
    address,
    /** Starts a program there. What it says goes to the file. */
    start: (words: readonly string[], options: StartOptions) => startIn(pid, words, options),
    /** Ends processes there by SIGKILL: all of them, as if the power were gone, or those that are meant. */
    kill: async (which: Which = ALL) => {
      await waitUntil(`what was meant on ${name} is gone`, () => signal('SIGKILL', which) === 0);
    },
    freeze: (which: Which = ALL) => {
      for (let time = 0; time < 2; time += 1) signal('SIGSTOP', which); // One may have been started meanwhile.
    },
    thaw: (which: Which = ALL) => void signal('SIGCONT', which),
    runs: (which: Which) => meant(which).length > 0,
  };
}

const holders = new Map<string, number>();

/** Cuts the two off: from now on nothing passes between them, in either direction, and neither is told. */
export function cut(one: Machine, other: Machine): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    inside(holderOf(from), 'ip', 'neigh', 'replace', to.address, 'lladdr', NOWHERE, 'dev', 'eth0', 'nud', 'permanent');
  }
}

export function join(one: Machine, other: Machine): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    inside(holderOf(from), 'ip', 'neigh', 'del', to.address, 'dev', 'eth0');
  }
}

function startIn(
  pid: number,
  words: readonly string[],
  { env, logFile, asNobody = false }: StartOptions,
): ChildProcess {
  const nobody = asNobody ? ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] : [];
  const all = ['--target', String(pid), '--net', '--mount', '--', ...nobody, ...words];
  const child = spawn('nsenter', all, { env: { ...outerEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  return child;
}

function holderOf({ name }: Machine): number {
  const pid = holders.get(name);
  if (pid === undefined) throw new Error(`There is no machine ${name}.`);
  return pid;
}

function inside(pid: number, ...words: readonly string[]): void {
  execFileSync('nsenter', ['--target', String(pid), '--net', '--mount', '--', ...words]);
}

function ip(...words: readonly string[]): void {
  execFileSync('ip', words);
}

/** Returns an empty text for a process that is gone. */
function wordsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function networkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return '';
  }
}

function tryKill(pid: number, kind: NodeJS.Signals): void {
  try {
    process.kill(pid, kind);
  } catch {
    // It has ended meanwhile.
  }
}
