import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../tools/toolchain.ts';

/** Everything of other people that a cell is made of. */
export type Programs = ReturnType<typeof findPrograms>;

/** The folder is kept between runs, outside of what git sees. */
const VENV = path.join(ROOT, 'node_modules/.cache/purser-failover/venv');
const PACKAGES = ['patroni[etcd3]>=4.1,<5', 'psycopg[binary]'];
const DEBIAN: Readonly<Record<string, string>> = {
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  ip: 'iproute2',
};
const FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Looks for all programs, and installs Patroni for itself. Throws with what to install if something is missing. */
export function findPrograms() {
  const found = Object.fromEntries(Object.keys(DEBIAN).map((name) => [name, inPath(name)]));
  const postgres = globSync('/usr/lib/postgresql/*/bin/pg_rewind').toSorted().map(path.dirname).at(-1);
  const packages = Object.entries(DEBIAN).flatMap(([name, debian]) => (found[name] === undefined ? [debian] : []));
  if (postgres === undefined) packages.push('postgresql');
  const missing = [...new Set(packages)].join(' ');
  if (missing !== '') throw new Missing(`Some programs are missing. On Debian: apt-get install ${missing}`);
  const { etcd = '', haproxy = '' } = found;
  const bin = path.join(venv(), 'bin');
  return {
    etcd,
    haproxy,
    /** The folder of PostgreSQL's programs. */
    postgres: postgres ?? '',
    patroni: path.join(bin, 'patroni'),
    patronictl: path.join(bin, 'patronictl'),
  };
}

/** The error says that something has to be installed first. */
export class Missing extends Error {}

function inPath(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...FOLDERS];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** The folder of a Python environment with Patroni. */
function venv(): string {
  const given = process.env['PURSER_FAILOVER_VENV'] ?? VENV;
  if (existsSync(path.join(given, 'bin/patroni'))) return given;
  console.log(`Patroni is installed into ${path.relative(ROOT, given)}.`);
  try {
    execFileSync('python3', ['-m', 'venv', given], { stdio: ['ignore', 'ignore', 'inherit'] });
    const install = ['install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
    execFileSync(path.join(given, 'bin/pip'), install, { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    throw new Missing(
      `Patroni could not be installed with pip. It needs apt-get install python3-venv and a package registry; or name an environment with ${PACKAGES.join(' and ')} in PURSER_FAILOVER_VENV.`,
    );
  }
  return given;
}
