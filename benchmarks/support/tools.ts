import { accessSync, constants, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Programs of the machine that are used where it has them: their paths. */
export interface Tools {
  readonly nginx: string | undefined;
  readonly wrk: string | undefined;
  readonly taskset: string | undefined;
}

/** How each of them is had on Debian and its like. */
export const HOW_TO_GET: Readonly<Record<keyof Tools, string>> = {
  nginx: '`apt-get install nginx-light`; it is what everything is compared with',
  wrk: '`apt-get install wrk`; it makes the calls of most measures',
  taskset: 'it comes with util-linux; without it the processes disturb each other, and the figures vary',
};

/** Where they often are though no search path of a user names it. */
const FOLDERS_BESIDE_PATH = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

export function findTools(folders: readonly string[]): Tools {
  const find = (name: string): string | undefined =>
    folders
      .filter((folder) => folder !== '')
      .map((folder) => path.join(folder, name))
      .find(isExecutable);
  return { nginx: find('nginx'), wrk: find('wrk'), taskset: find('taskset') };
}

/** Where programs are looked for, as `PATH` says. */
export function foldersOf(searchPath: string): readonly string[] {
  return [...searchPath.split(path.delimiter), ...FOLDERS_BESIDE_PATH];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The cores that each kind of process may use, as `taskset -c` takes them. */
export interface Placement {
  readonly load: string;
  readonly upstream: string;
  readonly database: string;
  readonly gateway: string;
}

/**
 * On two cores, the gateway under test has the second alone and all else shares the first; this is the same for every
 * target. With more cores, each kind has one of its own, and the database has all the rest.
 */
export function placementOn(cores: readonly number[]): Placement {
  const [load = '0', gateway = load, third = load, ...rest] = cores.map(String);
  if (rest.length === 0) return { load, upstream: load, database: load, gateway };
  return { load, upstream: third, database: rest.join(','), gateway };
}

// Read before this process is kept on a core of its own.
const CORES = allowedCores();

export function placement(): Placement {
  return placementOn(CORES);
}

/** Every core, for what shall find its own. */
export function allCores(): string {
  return CORES.join(',');
}

/** Those that the machine lets this process use, which in a container may be any of them. */
function allowedCores(): readonly number[] {
  try {
    const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return list.split(',').flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
  } catch {
    return os.cpus().map((_, index) => index); // Only Linux has the list, and only Linux has `taskset`.
  }
}

/** Describes the placement for the report. */
export function describePlacement({ load, upstream, database, gateway }: Placement, { taskset }: Tools): string {
  if (taskset === undefined) return 'No process was kept on a core.';
  return `Cores: gateway under test ${gateway}, load generator ${load}, upstream ${upstream}, PostgreSQL ${database}.`;
}
