import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openKeptKeys } from '../../../packages/service/src/db/identity/kept-keys.ts';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { send } from '../../support/client.ts';
import { embedWithDemo } from './demo-vectors.ts';
import { createTestDatabase } from '../../support/database.ts';
import { isLinux } from '../../support/embedded-harness.ts';
import { usePasskeyAt } from './own-machine.ts';
import { descendantsOf, untilGone } from '../../support/service-process.ts';
import { ROOT } from '../../../tools/toolchain.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The product as a newcomer starts it: a separate process with an embedded database, the demo and the simulator. */

const PROGRAM = fileURLToPath(new URL('../../../packages/service/src/cli/main.ts', import.meta.url));

/** The tests look children up in /proc. */
const LINUX_ONLY = { skip: !isLinux };

let directory: string;
let port: number;

before(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'purser start '));
  port = await findFreePort();
});

after(() => rmSync(directory, { recursive: true, force: true }));

function launch(words: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
  const settings = {
    HOME: os.homedir(),
    PATH: process.env['PATH'] ?? '',
    PURSER_DATA_DIR: directory,
    PORT: String(port),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  };
  return spawn(process.execPath, [PROGRAM, ...words], { env: { ...settings, ...environment } });
}

/** Runs `npm start` without the scripts before it, because the packages are installed. */
function launchByNpm(): ChildProcess {
  const { HOME = os.homedir(), PATH = '' } = process.env;
  const env = { HOME, PATH, PURSER_DATA_DIR: directory, PORT: String(port) };
  return spawn('npm', ['start', '--ignore-scripts'], { cwd: ROOT, env });
}

async function finish(child: ChildProcess) {
  let output = '';
  child.stdout?.on('data', (text) => (output += String(text)));
  child.stderr?.on('data', (text) => (output += String(text)));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, output };
}

/** Resolves with the output once it matches the pattern, or rejects if the process ends first. */
function untilSaid(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const listen = (text: unknown) => {
      said += String(text);
      if (pattern.test(said)) resolve(said);
    };
    child.stderr?.on('data', listen);
    child.once('exit', () => reject(new Error(`It ended and said: ${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

interface Pasted {
  readonly key: string;
  readonly user: string;
  readonly body: string;
}

/** The calls that the banner shows, as a user would paste them. */
function pastedCalls(banner: string): readonly Pasted[] {
  const calls = banner.matchAll(
    /Bearer (svc_\w+)' \\\n\s+-H 'x-service-user: ([^']+)' \\\n\s+-H [^\n]+\n\s+-d '([^']+)'/g,
  );
  return [...calls].map(([, key = '', user = '', body = '']) => ({ key, user, body }));
}

test('OP-01 WI-11 a first start prints calls that work', async (t) => {
  const service = launch(['serve']);
  const banner = await untilSaid(service, /Stop with Ctrl-C/);
  try {
    assert.match(banner, /Creating the database/);
    const calls = pastedCalls(banner);
    assert.equal(calls.length, 3, banner);
    const url = `http://127.0.0.1:${port}`;
    const stranger = calls[2];
    const refused = await send('/v1/chat/completions', { url, ...stranger });
    assert.equal(refused.status, 402, refused.text);
    const linkTo = (page: string) => new RegExp(`^http://localhost:${port}/${page}/[\\w-]+$`);
    assert.match(String(refused.body['topupUrl']), linkTo('topup'));
    const connect = await send('/connect', { url, ...stranger, body: JSON.stringify({ redirectUri: `${url}/` }) });
    assert.match(String(connect.body['connectUrl']), linkTo('connect'), connect.text);
    for (const { key, ...call } of calls.slice(0, 2)) {
      const reply = await send('/v1/chat/completions', { url, key, ...call });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.body['model'], 'purser.demo-1');
      assert.equal(reply.headers.get('x-service-mode'), key.startsWith('svc_test_') ? 'sandbox' : null);
    }
    for (const call of calls.slice(0, 2)) await embedWithDemo(url, call);

    const { key = '', user = '' } = calls[0] ?? {};
    const balance = await send('/balance', { url, key, user });
    assert.ok(Number(balance.body['balanceMicros']) < 20_000_000, balance.text);

    await usePasskeyAt(t, port, path.join(directory, 'demo.json'));

    const second = await finish(launch(['serve']));
    assert.equal(second.code, 1);
    assert.match(second.output, /Another Purser \(process \d+\) is using .+ Stop it first/);

    const check = await finish(launch(['ledger', 'check']));
    assert.equal(check.code, 0, check.output);
    assert.match(check.output, /1 wallets, 3 entries, 0 differences/);
  } finally {
    await stop(service);
  }
});

test('OP-12 a later start keeps keys and wallet', async () => {
  const keysBefore = readFileSync(path.join(directory, 'demo.json'), 'utf8');
  const service = launchByNpm();
  const banner = await untilSaid(service, /Stop with Ctrl-C/);
  try {
    assert.equal(readFileSync(path.join(directory, 'demo.json'), 'utf8'), keysBefore);
    const compiled = readdirSync(path.join(ROOT, 'node_modules', '.cache', 'purser'));
    assert.ok(compiled.length > 0, 'the next start compiles nothing again');
    const { key = '', user = '' } = pastedCalls(banner)[0] ?? {};
    const balance = await send('/balance', { url: `http://127.0.0.1:${port}`, key, user });
    const spent = 20_000_000 - Number(balance.body['balanceMicros']);
    assert.ok(spent > 0 && spent < 1_000, balance.text);
    // As systemd does it: every process is told, and npm tells its child again.
    const family = isLinux ? descendantsOf(service.pid ?? 0) : [];
    const ended = finish(service);
    for (const pid of family.slice(0, 2)) process.kill(pid, 'SIGTERM');
    service.kill('SIGTERM');
    assert.match((await ended).output, /Stopping\. Running calls may finish first\./);
    await untilGone(family);
    await assert.rejects(send('/healthz', { url: `http://127.0.0.1:${port}` }), 'the port is free');
  } finally {
    if (isLinux) for (const pid of descendantsOf(service.pid ?? 0)) process.kill(pid, 'SIGKILL');
    service.kill('SIGKILL');
  }
});

test('OP-15 a killed gateway process is replaced', LINUX_ONLY, async () => {
  const service = launch(['serve'], { PURSER_WORKERS: '2' });
  const banner = await untilSaid(service, /Stop with Ctrl-C/);
  try {
    const { key = '', user = '', body = '' } = pastedCalls(banner)[0] ?? {};
    const url = `http://127.0.0.1:${port}`;
    const workers = childrenOf(service.pid ?? 0).filter(({ command }) => command.includes('cli/main.ts'));
    assert.equal(workers.length, 2);
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => send('/v1/chat/completions', { url, key, user, body })),
    );
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    process.kill(workers[0]?.pid ?? 0, 'SIGKILL');
    await waitUntil('the killed process is replaced', () => {
      const now = childrenOf(service.pid ?? 0).filter(({ command }) => command.includes('cli/main.ts'));
      return now.length === 2 && now.every(({ pid }) => pid !== workers[0]?.pid);
    });
    const after = await send('/v1/chat/completions', { url, key, user, body });
    assert.equal(after.status, 200, after.text);
  } finally {
    await stop(service);
  }
});

test('OP-13 a database has one secret', async (t) => {
  const database = await createTestDatabase();
  t.after(database.close);
  const data = path.join(directory, 'not', 'there');
  const settings = {
    DATABASE_URL: database.url,
    PURSER_DATA_DIR: data,
    PURSER_SECRET: 'one secret for this database alone',
  };
  const service = launch(['serve'], settings);
  await untilSaid(service, /Stop with Ctrl-C/);
  try {
    const other = {
      DATABASE_URL: database.url,
      PURSER_DATA_DIR: directory,
      PURSER_SECRET: 'another secret, just as long as it',
    };
    const [serving, working, replacing] = await Promise.all([
      finish(launch(['serve'], { ...other, PORT: '0' })),
      finish(launch(['work'], other)),
      finish(launch(['secret', 'replace', '--lost'], other)),
    ]);
    for (const { code, output } of [serving, working]) {
      assert.equal(code, 78, 'no other start will do better');
      assert.match(
        output,
        /^This database belongs to another PURSER_SECRET\. Set the one that its other gateways use/m,
      );
    }
    assert.match(replacing.output, /^A gateway runs on this database\. Stop all of them/m);
    await stop(service);
    assert.match(
      (await finish(launch(['secret', 'replace', '--lost'], other))).output,
      /now belongs to this PURSER_SECRET/,
    );
    const former = await finish(launch(['work'], settings));
    assert.match(former.output, /^This database belongs to another PURSER_SECRET/m);
  } finally {
    service.kill('SIGKILL');
  }
});

test('OP-13 two first starts agree on one secret', async (t) => {
  const database = await createTestDatabase();
  t.after(database.close);
  const secrets = Array.from({ length: 8 }, (_, index) =>
    Buffer.from(`the secret number ${index % 2} of this database`),
  );
  const starts = await Promise.all(
    secrets.map((secret) => openKeptKeys(database.owner, { secret }, { isGateway: true })),
  );
  const keys = starts.map((opened) => opened?.keys['webhook-secrets'].toString('hex'));
  assert.deepEqual(
    keys,
    secrets.map((_, index) => keys[index % 2]),
    'equal secrets open the same keys',
  );
  assert.deepEqual(new Set(keys.slice(0, 2).map((key) => key === undefined)), new Set([true, false]));
});

test('OP-03 production names every bad setting at once', async () => {
  const { code, output } = await finish(
    launch(['serve'], { PURSER_ENV: 'production', PORT: 'x', DATABASE_URL: 'mysql://x', PURSER_CURRENCY: 'euro' }),
  );
  assert.equal(code, 78);
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'PURSER_CURRENCY',
    'PURSER_SECRET',
    'PURSER_PUBLIC_URL',
    'PURSER_CATALOGUE',
  ]) {
    assert.match(output, new RegExp(`${name} (must|is required)`));
  }
});

test('OP-03 production refuses a weak secret', async () => {
  const weak = await finish(
    launch(['serve'], { PURSER_ENV: 'production', PURSER_SECRET: 'short', PURSER_CATALOGUE: 'none.json' }),
  );
  assert.match(weak.output, /PURSER_SECRET must have 32 bytes or more/);
  const open = await finish(launch(['serve'], { HOST: '0.0.0.0' }));
  assert.equal(open.code, 78);
  assert.match(open.output, /PURSER_ALLOW_PUBLIC_DEVELOPMENT=1/);
});

test('OP-02 one sentence says why the service cannot start', async () => {
  const unreachable = await finish(launch(['serve'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }));
  assert.equal(unreachable.code, 1, 'the next start may reach it');
  assert.match(unreachable.output, /The database none at 127\.0\.0\.1:1 cannot be reached/);
  const missing = await finish(launch(['serve'], { PURSER_CATALOGUE: '/nowhere.json' }));
  assert.equal(missing.code, 78);
  assert.match(missing.output, /The catalogue \/nowhere\.json cannot be read/);
  const blocked = path.join(directory, 'demo.json', 'data'); // A file is in the way.
  const unusable = await finish(launch(['serve'], { PURSER_DATA_DIR: blocked, PURSER_SECRET: 'x'.repeat(32) }));
  assert.match(unusable.output, /^The data directory \S.+\/data cannot be used: .+ set PURSER_DATA_DIR to another/);
});

interface Child {
  readonly pid: number;
  readonly command: string;
}

function childrenOf(pid: number): readonly Child[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  // One that has ended since is none.
  const running = pids.filter((child) => existsSync(`/proc/${child}/cmdline`));
  return running.map((child) => ({ pid: child, command: readFileSync(`/proc/${child}/cmdline`, 'utf8') }));
}
