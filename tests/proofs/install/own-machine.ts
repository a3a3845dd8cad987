// A machine of its own for a play: its own files in the folders that the guides name, its own network and processes. Debian's programs
// are those of this machine. systemd and what fetches from outside are stand-ins.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { programAt } from '../../support/nginx.ts';

const execute = promisify(execFile);
const BLOCK_MS_MAX = 120_000;
const STAND_INS = path.join(import.meta.dirname, 'stand-ins.ts');
const NAMES = ['apt-get', 'certbot', 'journalctl', 'systemctl', 'systemd-run'];
/** What a fresh Debian has there, or what the guides put there. */
const FOLDERS = ['opt', 'mnt', 'run', 'usr/local/bin', 'usr/local/sbin', 'var'];
const INSIDE = ['run/postgresql', 'var/lib/nginx', 'var/log/nginx', 'var/www/html', 'var/tmp', 'mnt/backups'];
const NEEDED = ['unshare', 'ip', 'runuser', 'useradd', 'openssl', 'curl', 'pg_createcluster', 'nginx'];

/** Why no play can run here, or false. */
export function reasonForNoPlay(...others: readonly string[]): string | false {
  const missing = [...NEEDED, ...others].filter((name) => programAt(name) === undefined);
  if (process.getuid?.() !== 0) return 'only root can lay a machine of its own';
  return missing.length > 0 && `missing: ${missing.join(', ')} (Debian: apt-get install nginx postgresql pgbackrest)`;
}

/** Plays a file on a machine of its own below this folder. All its processes end with it. Returns what it printed last. */
export async function play(file: string, folder: string, given: object): Promise<unknown> {
  const words = ['--mount', '--net', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];
  // The shell is the first process, which buries those whose parents have gone.
  const run = ['sh', '-c', '"$@" & wait $!', 'sh', process.execPath, file, folder, JSON.stringify(given)];
  const child = spawn('unshare', [...words, ...run], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [said, printed] = ['', ''];
  child.stdout.on('data', (part: Buffer) => void (printed += part.toString()));
  child.stderr.on('data', (part: Buffer) => void (said += part.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`The play ended with ${status}.\n${printed}${said}`);
  return JSON.parse(printed.trimEnd().split('\n').at(-1) ?? 'null') as unknown;
}

/** Called first in a play. Returns how a block of a guide is run, which is as root, without a terminal. */
export function layMachine(folder: string, hosts: readonly string[]) {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  execFileSync('mount', ['--make-rprivate', '/']);
  const bind = (name: string): void => void execFileSync('mount', ['--bind', path.join(folder, name), `/${name}`]);
  mkdirSync(folder, { recursive: true });
  execFileSync('cp', ['-a', '/etc', path.join(folder, 'etc')]);
  for (const left of ['etc/postgresql', 'etc/nginx', 'etc/purser', 'etc/letsencrypt', 'etc/pgbackrest.conf']) {
    rmSync(path.join(folder, left), { recursive: true, force: true });
  }
  for (const name of [...FOLDERS, ...INSIDE, 'bin', 'root', 'etc/postgresql', 'etc/systemd/system']) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  // What a cluster of Debian and its clients look at.
  for (const kept of ['var/lib/postgresql', 'var/log/postgresql'])
    mkdirSync(path.join(folder, kept), { recursive: true });
  execFileSync('chown', [
    'postgres:',
    ...['run/postgresql', 'var/lib/postgresql', 'var/log/postgresql'].map((at) => path.join(folder, at)),
  ]);
  for (const open of ['', 'var/tmp']) chmodSync(path.join(folder, open), open === '' ? 0o755 : 0o1777);
  writeFileSync(path.join(folder, 'etc/hosts'), `127.0.0.1 localhost ${hosts.join(' ')}\n`);
  for (const name of NAMES) {
    const file = path.join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${STAND_INS}' ${name} "$@"\n`, { mode: 0o755 });
  }
  // The server runs it as another user, with the PATH of Debian.
  const keeper = programAt('pgbackrest');
  if (keeper !== undefined) cpSync(keeper, path.join(folder, 'usr/local/bin/pgbackrest'));
  for (const name of ['etc', ...FOLDERS]) bind(name);
  const env = {
    PATH: `${path.join(folder, 'bin')}:/usr/local/sbin:/usr/local/bin:${process.env['PATH']}:/usr/sbin:/sbin`,
    HOME: path.join(folder, 'root'),
    LANG: 'C.UTF-8',
  };
  let at = env.HOME;
  return {
    /** The folder that `cd` goes to stays for the next block, as at a terminal. */
    run: async (code: string, input = ''): Promise<string> => {
      const words = ['--wait', 'bash', '--norc', '-euo', 'pipefail', '-c', `${code}\npwd > '${folder}/at'`];
      const running = execute('setsid', words, { cwd: at, env, timeout: BLOCK_MS_MAX });
      running.child.stdin?.end(input);
      const { stdout } = await running;
      at = readFileSync(`${folder}/at`, 'utf8').trim();
      return stdout;
    },
    home: env.HOME,
  };
}
