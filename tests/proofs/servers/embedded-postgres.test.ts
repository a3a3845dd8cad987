import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findBinaries } from '../../../packages/service/src/embedded/files/binaries.ts';
import { EmbeddedPostgresError } from '../../../packages/service/src/embedded/embedded-postgres.ts';
import { layOut } from '../../../packages/service/src/embedded/files/layout.ts';
import { memoryBytes, sharedBuffersMib } from '../../../packages/service/src/embedded/server/memory.ts';
import { takeOwnerLock } from '../../../packages/service/src/embedded/processes/owner-lock.ts';
import { choosePrivileges } from '../../../packages/service/src/embedded/processes/privileges.ts';
import {
  afterwards,
  cannotRunAs,
  isLinux,
  isRoot,
  makeOpenDirectory,
  makePrivateDataDirectory,
  postmasterPid,
  query,
  runOwner,
  runs,
  start,
  until,
} from '../../support/embedded-harness.ts';

const NOBODY = 65534;
const NAMELESS = 54_321;
const hasNamespaces = spawnSync('unshare', ['--user', 'true']).status === 0;
const hasFlock = spawnSync('flock', ['--version']).error === undefined;

const refusal = (pattern: RegExp) => (fault: unknown) => {
  assert.ok(fault instanceof EmbeddedPostgresError, String(fault));
  assert.match(fault.message, pattern);
  return true;
};

const filesBeside = (directory: string): readonly string[] =>
  readdirSync(dirname(directory)).map((name) => name.replace(basename(directory), ''));

test('OP-15 data survives a stop on a path with spaces', async (t) => {
  const directory = makePrivateDataDirectory(t);
  const first = await start(t, directory);
  await query(first.url, "create table kept as select 'yes' as word");
  const pid = postmasterPid(directory);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(`${directory}.secret`).mode & 0o777, 0o600);
  await first.stop();
  assert.equal(runs(pid), false);
  assert.deepEqual(filesBeside(directory).toSorted(), ['', '.guard', '.log', '.secret']);

  const second = await start(t, directory);
  assert.deepEqual(await query(second.url, 'select word from kept'), [{ word: 'yes' }]);
});

test('OP-15 the server is durable and on loopback only', async (t) => {
  const { url, stop } = await start(t, join(makeOpenDirectory(t), 'postgres'));
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'password_encryption'];
  const shown = await Promise.all(names.map(async (name) => Object.values((await query(url, `show ${name}`))[0]!)[0]));
  assert.deepEqual(shown, ['on', 'on', 'on', 'on', 'scram-sha-256']);
  assert.deepEqual(await query(url, 'show listen_addresses'), [{ listen_addresses: '127.0.0.1' }]);
  const sizes = `select (pg_size_bytes(current_setting('shared_buffers')) >> 20)::int as buffers,
    pg_size_bytes(current_setting('max_wal_size')) >> 20 between 1024 and 4096 as "isLogBounded"`;
  assert.deepEqual(await query(url, sizes), [{ buffers: sharedBuffersMib(memoryBytes()), isLogBounded: true }]);
  assert.deepEqual(await query(url, 'show unix_socket_directories'), [{ unix_socket_directories: '' }]);
  await assert.rejects(query(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1'), /password authentication failed/);
  await Promise.all([stop(), stop()]);
});

test('OP-15 the server gets none of our environment variables', { skip: !isLinux }, async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  process.env['PURSER_TEST_SECRET'] = 'a key of a payment processor';
  await start(t, directory);
  const environment = readFileSync(`/proc/${postmasterPid(directory)}/environ`, 'utf8');
  assert.match(environment, /PATH=/);
  assert.doesNotMatch(environment, /SECRET/);
});

for (const without of [[], ['flock']] as const) {
  const how = without.length === 0 ? '' : ' (no flock on the machine)';

  test(`OP-15 a second start is refused at once${how}`, async (t) => {
    const directory = join(makeOpenDirectory(t), 'postgres');
    const began = performance.now();
    const first = runOwner(t, { directory, without });
    const url = (await first.answer).replace('ready ', '');
    const pid = postmasterPid(directory);
    const before = performance.now();
    await assert.rejects(
      start(t, directory, without),
      refusal(
        new RegExp(
          `^Another Purser \\(process ${first.child.pid}\\) is using ${directory}\\. Stop it first, or set PURSER_DATA_DIR to another directory\\.$`,
        ),
      ),
    );
    assert.ok(performance.now() - before < before - began, 'sooner than a start takes');
    assert.equal(postmasterPid(directory), pid);
    assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }]);
  });

  test(`OP-15 of several starts at the same moment exactly one wins${how}`, async (t) => {
    const directory = join(makeOpenDirectory(t), 'postgres');
    writeFileSync(`${directory}.owner`, staleRecord());
    const owners = Array.from({ length: 4 }, () => runOwner(t, { directory, without }));
    const answers = await Promise.all(owners.map(({ answer }) => answer));
    assert.equal(answers.filter((answer) => answer.startsWith('ready ')).length, 1, answers.join('\n'));
    assert.equal(answers.filter((answer) => /^refused Another Purser .*is using/.test(answer)).length, 3);
  });

  test(`OP-15 a lock with a reused process id is taken over${how}`, async (t) => {
    const directory = join(makeOpenDirectory(t), 'postgres');
    writeFileSync(`${directory}.owner`, staleRecord());
    const { stop } = await start(t, directory, without);
    assert.equal(JSON.parse(readFileSync(`${directory}.owner`, 'utf8')).pid, process.pid);
    await stop();
    assert.equal(existsSync(`${directory}.owner`), false);
  });
}

test('OP-15 an unidentified lock owner still blocks a start', {
  skip: !hasFlock,
}, async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { url } = await start(t, directory);
  // As in a second container on the same disk, where the owner's process id means nothing.
  for (const record of ['', staleRecord()]) {
    writeFileSync(`${directory}.owner`, record);
    await assert.rejects(start(t, directory), refusal(/^Another Purser is using .*PURSER_DATA_DIR/));
  }
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }]);
});

/** Writes a lock that names a process with our id and another start time as the owner. */
const staleRecord = (): string => JSON.stringify({ pid: process.pid, startedAt: 'another boot/1', token: 'stale' });

test('OP-15 of many takeovers of a stale lock one wins', async (t) => {
  for (let round = 0; round < 40; round += 1) {
    const layout = await layOut(join(makeOpenDirectory(t), 'postgres'));
    writeFileSync(layout.owner, staleRecord());
    if (round % 2 === 1) writeFileSync(`${layout.owner}.takeover`, staleRecord());
    const takers = await Promise.allSettled(Array.from({ length: 12 }, () => takeOwnerLock(layout, ['flock'])));
    assert.equal(takers.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const taker of takers) if (taker.status === 'rejected') refusal(/^Another Purser/)(taker.reason);
    for (const taker of takers) if (taker.status === 'fulfilled') await taker.value.release();
    assert.deepEqual(filesBeside(layout.directory), []);
  }
});

test('OP-15 an ordinary user can run it', { skip: cannotRunAs(NOBODY) ?? false }, async (t) => {
  await runAsUser(t, NOBODY);
});

test('OP-15 a user without a name runs it or is told why', {
  skip: cannotRunAs(NAMELESS) ?? !isLinux,
}, async (t) => {
  if (hasNamespaces) {
    const directory = await runAsUser(t, NAMELESS);
    await assert.rejects(start(t, directory), refusal(/belongs to user 54321, but Purser runs as user 0/));
  } else {
    const directory = await makeDirectoryOf(t, NAMELESS);
    const { answer } = runOwner(t, { directory, uid: NAMELESS });
    assert.match(await answer, /^refused PostgreSQL needs a user with a name.*DATABASE_URL/);
  }
});

async function makeDirectoryOf(t: TestContext, uid: number): Promise<string> {
  const directory = join(makeOpenDirectory(t), 'own', 'postgres');
  mkdirSync(dirname(directory), { mode: 0o700 });
  await chown(dirname(directory), uid, uid);
  return directory;
}

async function runAsUser(t: TestContext, uid: number): Promise<string> {
  const directory = await makeDirectoryOf(t, uid);
  const owner = runOwner(t, { directory, uid });
  assert.match(await owner.answer, /^ready /);
  assert.equal(statSync(directory).uid, uid);
  await owner.dismiss();
  return directory;
}

const onlyRoot = { skip: isRoot ? false : 'only root has to give up its rights' };
const serverUid = (directory: string): number => statSync(`/proc/${postmasterPid(directory)}`).uid;

const needsNamespaces = { skip: onlyRoot.skip || (hasNamespaces ? false : 'user namespaces are off here') };

test('OP-15 root can switch the way of running', needsNamespaces, async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const ways = [
    { without: [], parentMode: 0o711, owner: 0 }, // In a user namespace.
    { without: ['unshare'], parentMode: 0o711, owner: NOBODY }, // As nobody.
    { without: [], parentMode: 0o711, owner: NOBODY }, // Files of the user `nobody` keep that owner.
    { without: ['unshare'], parentMode: 0o700, owner: NOBODY }, // As nobody with one capability.
    { without: ['setpriv'], parentMode: 0o700, owner: 0 }, // In a user namespace again.
  ] as const;
  for (const [round, { without, parentMode, owner }] of ways.entries()) {
    await chmod(dirname(directory), parentMode);
    const { url, stop } = await start(t, directory, without);
    if (round === 0) await query(url, 'create table rounds (n int)');
    await query(url, `insert into rounds values (${round})`);
    assert.deepEqual([statSync(directory).uid, serverUid(directory)], [owner, owner]);
    assert.deepEqual(await query(url, 'select count(*)::int as n from rounds'), [{ n: round + 1 }]);
    await stop();
  }
});

test('OP-15 root without user namespaces uses a private directory', onlyRoot, async (t) => {
  const directory = makePrivateDataDirectory(t);
  const started = await start(t, directory, ['unshare']).catch((fault: unknown) => fault);
  if (started instanceof Error) refusal(/DATABASE_URL/)(started);
  else assert.equal(serverUid(directory), NOBODY);
});

test('OP-15 root gets a plain message when nothing works', onlyRoot, async (t) => {
  const directory = makePrivateDataDirectory(t);
  await assert.rejects(
    start(t, directory, ['unshare', 'setpriv']),
    refusal(/PostgreSQL refuses to run as root, and neither .*set DATABASE_URL to a PostgreSQL server/),
  );
  assert.deepEqual(filesBeside(directory), ['.guard']);
});

test('OP-15 a directory with other files is left alone', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  mkdirSync(directory);
  writeFileSync(join(directory, 'thesis.txt'), 'the only copy');
  await assert.rejects(start(t, directory), refusal(/contains files but no database/));
  assert.deepEqual(readdirSync(directory), ['thesis.txt']);
});

test('OP-15 data of another version is left alone', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { stop } = await start(t, directory);
  await stop();
  const secret = readFileSync(`${directory}.secret`);
  rmSync(`${directory}.secret`);
  await assert.rejects(start(t, directory), refusal(/password of the database .* Restore that file/));
  writeFileSync(`${directory}.secret`, secret);
  writeFileSync(join(directory, 'PG_VERSION'), '17\n');
  await assert.rejects(start(t, directory), refusal(/created by PostgreSQL 17, but this Purser contains version \d+/));
});

test('OP-15 leftovers of killed starts are removed', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  mkdirSync(`${directory}.tmp-half/data`, { recursive: true });
  writeFileSync(`${directory}.log`, '');
  truncateSync(`${directory}.log`, 11 * 1024 * 1024);
  await start(t, directory);
  assert.deepEqual(filesBeside(directory).toSorted(), ['', '.guard', '.log', '.log.1', '.owner', '.secret']);
});

test('OP-15 a foreign server is neither disturbed nor joined', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { stop } = await start(t, directory);
  await stop();
  const binaries = await findBinaries();
  const { prefix, identity } = await choosePrivileges(binaries, await layOut(directory), []);
  const settings = ['-c', 'port=16383', '-c', 'unix_socket_directories=', '-D', directory];
  const [command = '', ...parameters] = [...prefix, binaries.postgres, ...settings];
  const stranger = spawn(command, parameters, { ...identity, stdio: 'ignore' });
  afterwards(t, async () => {
    stranger.kill('SIGINT');
    await once(stranger, 'exit');
  });
  await until('the stranger runs', () => existsSync(join(directory, 'postmaster.pid')));
  await assert.rejects(start(t, directory), refusal(/that Purser did not start|did not start: lock file/));
  assert.equal(runs(stranger.pid!), true);
});

test('OP-15 an unwritable parent directory is explained', {
  skip: cannotRunAs(NOBODY) ?? false,
}, async (t) => {
  const parent = makeOpenDirectory(t);
  await chmod(parent, 0o755);
  const owner = runOwner(t, { directory: join(parent, 'postgres'), uid: NOBODY });
  assert.match(await owner.answer, /^refused The database directory .* cannot be used: EACCES.*DATABASE_URL/);
});
