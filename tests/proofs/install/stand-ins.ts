// What a machine of a play has in place of systemd, certbot and apt. They do what these do of what the guides need.
import { execFileSync, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';

const UNITS = '/etc/systemd/system';
const STATE = '/run/stand-in';
const JOURNAL = `${STATE}/journal`;
const QUIET: { readonly stdio: StdioOptions } = { stdio: ['ignore', 'ignore', 'inherit'] };
const NGINX = `user www-data;
worker_processes 1;
pid /run/nginx.pid;
error_log /var/log/nginx/error.log;
events { worker_connections 768; }
http {
  access_log /var/log/nginx/access.log;
  include /etc/nginx/conf.d/*.conf;
  server { listen 80 default_server; root /var/www/html; server_name _; }
}
`;

type Act = (words: readonly string[]) => number;

const ACTS: Readonly<Record<string, Act>> = {
  'apt-get': (words) => install(words.filter((word) => !word.startsWith('-')).slice(1)),
  certbot: certify,
  journalctl: () => print(existsSync(JOURNAL) ? readFileSync(JOURNAL, 'utf8') : ''),
  systemctl: control,
  'systemd-run': runOnce,
};

mkdirSync(STATE, { recursive: true });
const [name = '', ...words] = process.argv.slice(2);
process.exitCode = ACTS[name]?.(words) ?? 1;

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** The programs are there. Debian starts what it installs. */
function install(packages: readonly string[]): number {
  if (packages.includes('postgresql')) {
    const version = execFileSync('ls', ['/usr/lib/postgresql'], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
    execFileSync('pg_createcluster', [version, 'main'], QUIET);
    if (service('start', 'postgresql') !== 0) return 1;
  }
  if (packages.includes('nginx')) {
    mkdirSync('/etc/nginx/conf.d', { recursive: true });
    writeFileSync('/etc/nginx/nginx.conf', NGINX);
    if (service('start', 'nginx') !== 0) return 1;
  }
  if (packages.includes('pgbackrest')) {
    for (const folder of ['/var/log/pgbackrest', '/var/lib/pgbackrest', '/var/spool/pgbackrest']) {
      execFileSync('install', ['-d', '-m', '0750', '-o', 'postgres', folder]);
    }
    writeFileSync('/etc/pgbackrest.conf', '[global]\nrepo1-path=/var/lib/pgbackrest\n', { mode: 0o640 });
    execFileSync('chown', ['postgres:', '/etc/pgbackrest.conf']);
  }
  return 0;
}

/** A self-made certificate, given only if the name leads to the folder in which the proof is. */
function certify(given: readonly string[]): number {
  const after = (option: string): string => given[given.indexOf(option) + 1] ?? '';
  const [webroot, domain] = [after('--webroot-path'), after('--domain')];
  const proof = path.join(webroot, '.well-known/acme-challenge');
  mkdirSync(proof, { recursive: true });
  writeFileSync(path.join(proof, 'token'), 'proved');
  const asked = spawnSync('curl', ['-fsS', `http://${domain}/.well-known/acme-challenge/token`], { encoding: 'utf8' });
  if (asked.stdout !== 'proved') return 1;
  const live = `/etc/letsencrypt/live/${domain}`;
  mkdirSync(live, { recursive: true });
  const made = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${domain} -addext subjectAltName=DNS:${domain}`;
  execFileSync('openssl', [...made.split(' '), '-keyout', `${live}/privkey.pem`, '-out', `${live}/fullchain.pem`], {
    stdio: 'ignore',
  });
  return spawnSync('sh', ['-c', after('--deploy-hook')], { stdio: 'inherit' }).status ?? 1;
}

function control([verb = '', ...given]: readonly string[]): number {
  const names = given.filter((word) => !word.startsWith('-')).map((word) => word.replace(/\.service$/, ''));
  if (verb === 'daemon-reload' || verb === 'list-timers') return 0;
  if (verb === 'enable') return given.includes('--now') ? each(names, 'start') : 0;
  return each(names, verb);
}

function each(names: readonly string[], verb: string): number {
  return names.map((one) => service(verb, one)).find((status) => status !== 0) ?? 0;
}

function service(verb: string, unit: string): number {
  if (verb === 'restart') return service('stop', unit) || service('start', unit);
  if (unit.endsWith('.timer'))
    return unitText(unit) === undefined || start(unit.replace(/\.timer$/, ''), true) === undefined ? 5 : 0;
  if (unit === 'postgresql') return postgresql(verb);
  if (unit === 'nginx')
    return spawnSync('nginx', verb === 'start' ? [] : ['-s', verb === 'stop' ? 'quit' : verb], QUIET).status ?? 1;
  return verb === 'start' ? (start(unit) ?? 5) : stop(unit);
}

function postgresql(verb: string): number {
  const [version = '', cluster = ''] = execFileSync('pg_lsclusters', ['-h'], { encoding: 'utf8' }).split(/\s+/);
  const words = [version, cluster, verb, ...(verb === 'stop' ? ['-m', 'fast'] : [])];
  return spawnSync('pg_ctlcluster', words, QUIET).status ?? 1;
}

/** The text of a unit, or of the one for all instances. */
function unitText(unit: string): string | undefined {
  const files = [unit, unit.replace(/@[^.]*/, '@')].map((one) =>
    path.join(UNITS, /\.\w+$/.test(one) ? one : `${one}.service`),
  );
  const file = files.find((one) => existsSync(one));
  return file && readFileSync(file, 'utf8');
}

/** Starts what a unit says, and waits as systemd does. Undefined without the unit. `isOnlyRead` for one that a timer will start. */
function start(unit: string, isOnlyRead = false): number | undefined {
  const text = unitText(unit);
  if (text === undefined || isOnlyRead) return text === undefined ? undefined : 0;
  const instance = /@(.*)$/.exec(unit)?.[1] ?? '';
  const all = (key: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const user = all('User')[0] ?? 'root';
  const env: Record<string, string | undefined> = { PATH: process.env['PATH'] };
  for (const pair of all('Environment').join(' ').split(' ').filter(Boolean))
    env[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1);
  for (const file of all('EnvironmentFile')) Object.assign(env, parseEnv(readFileSync(file, 'utf8')));
  for (const folder of all('StateDirectory')) makeFor(user, `/var/lib/${folder}`);
  const wordsOf = (line: string): string[] =>
    (line.replaceAll('%i', instance).match(/'[^']*'|\S+/g) ?? []).map((word) =>
      word
        .replace(/^'(.*)'$/s, '$1')
        .replaceAll('$$', '$')
        .replaceAll('%%', '%')
        .replace(/^\$\{(\w+)\}$/, (_all, one: string) => env[one] ?? ''),
    );
  const as = (line: string): string[] => [
    'setpriv',
    '--reuid',
    user,
    '--regid',
    all('Group')[0] ?? user,
    '--clear-groups',
    ...wordsOf(line),
  ];
  const [command = ''] = all('ExecStart');
  const log = openSync(JOURNAL, 'a', 0o666);
  const [program = '', ...given] = as(command);
  if (all('Type')[0] === 'oneshot')
    return spawnSync(program, given, { env, stdio: ['ignore', log, log], cwd: '/' }).status ?? 1;
  const child = spawn(program, given, { env, stdio: ['ignore', log, log], cwd: '/', detached: true });
  writeFileSync(pidFile(unit), String(child.pid));
  child.unref();
  for (const line of all('ExecStartPost')) {
    const [post = '', ...rest] = as(line);
    const { status } = spawnSync(post, rest, {
      env: { ...env, MAINPID: String(child.pid) },
      stdio: ['ignore', log, log],
      timeout: 120_000,
    });
    if (status !== 0) {
      appendFileSync(`${STATE}/refused`, `${unit}\n`);
      return 1;
    }
  }
  return 0;
}

function pidFile(unit: string): string {
  return `${STATE}/${unit}.pid`;
}

function stop(unit: string): number {
  if (!existsSync(pidFile(unit))) return 0;
  const pid = readFileSync(pidFile(unit), 'utf8');
  rmSync(pidFile(unit));
  const waited = spawnSync('sh', ['-c', `kill ${pid} && tail --pid=${pid} -f /dev/null`], {
    stdio: 'ignore',
    timeout: 90_000,
  });
  return waited.status ?? 1;
}

function makeFor(user: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  chownSync(folder, id('-u'), id('-g'));
}

/** Runs a command with the properties of a unit. */
function runOnce(given: readonly string[]): number {
  const at = given.findIndex((word) => !word.startsWith('-'));
  const options = given.slice(0, at);
  const valueOf = (option: string): string =>
    options.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1) ?? '';
  const env: Record<string, string | undefined> = { PATH: process.env['PATH'] };
  for (const word of options.filter((one) => one.startsWith('--setenv=')))
    Object.assign(env, parseEnv(word.slice('--setenv='.length)));
  Object.assign(env, parseEnv(readFileSync(valueOf('--property=EnvironmentFile'), 'utf8')));
  const user = valueOf('--uid');
  const asUser = ['--reuid', user, '--regid', user, '--clear-groups', ...given.slice(at)];
  return spawnSync('setpriv', asUser, { env, stdio: 'inherit', cwd: '/' }).status ?? 1;
}
