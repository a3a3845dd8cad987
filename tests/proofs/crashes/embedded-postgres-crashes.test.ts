import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  afterwards,
  answersAt,
  isLinux,
  killOwner,
  lostOf,
  makeOpenDirectory,
  makePrivateDataDirectory,
  postmasterPid,
  query,
  runOwner,
  runs,
  start,
  startLoad,
  until,
} from '../../support/embedded-harness.ts';

const ROWS_BEFORE_KILL = 200;

test('OP-15 kill -9 of the postmaster loses no row', async (t) => {
  const directory = makePrivateDataDirectory(t);
  const pidFile = join(directory, 'postmaster.pid');
  const { url } = await start(t, directory);
  await query(url, 'create table acked (n bigint primary key)');
  const load = startLoad(url);
  afterwards(t, load.stop);
  for (let round = 1; round <= 3; round += 1) {
    await until('rows are confirmed', () => load.acked.length >= round * ROWS_BEFORE_KILL);
    const killed = postmasterPid(directory);
    process.kill(killed, 'SIGKILL');
    // For a moment, processes of the killed server still confirm rows.
    await until('another server runs', () => existsSync(pidFile) && ![0, killed].includes(postmasterPid(directory)));
    const before = load.acked.length;
    await until('rows are confirmed again', () => load.acked.length >= before + ROWS_BEFORE_KILL);
  }
  await load.stop();
  assert.deepEqual(await lostOf(load.acked, url), []);
});

test('OP-15 kill -9 of Purser ends its server', async (t) => {
  const directory = makePrivateDataDirectory(t);
  for (let round = 1; round <= 3; round += 1) {
    const owner = runOwner(t, { directory, load: true });
    await until('rows are confirmed', () => owner.acked.length >= ROWS_BEFORE_KILL);
    const pid = postmasterPid(directory);
    await killOwner(owner);
    if (isLinux) await until('the server has ended by itself', () => !runs(pid));
    const { url, stop } = await start(t, directory);
    assert.deepEqual(await lostOf(owner.acked, url), []);
    await stop();
    assert.equal(runs(pid), false);
  }
});

test('OP-15 kill -9 of Purser and its server loses no row', async (t) => {
  const directory = makePrivateDataDirectory(t);
  const owner = runOwner(t, { directory, load: true });
  await until('rows are confirmed', () => owner.acked.length >= ROWS_BEFORE_KILL);
  process.kill(postmasterPid(directory), 'SIGKILL');
  await killOwner(owner);
  const { url } = await start(t, directory);
  assert.deepEqual(await lostOf(owner.acked, url), []);
});

test('OP-15 the next start ends a leftover server', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const owner = runOwner(t, { directory, load: true, without: ['setpriv', 'flock'] });
  await until('rows are confirmed', () => owner.acked.length >= ROWS_BEFORE_KILL);
  const left = postmasterPid(directory);
  await killOwner(owner);
  assert.equal(runs(left), true);
  const { url } = await start(t, directory, ['setpriv', 'flock']);
  assert.equal(runs(left), false);
  assert.match(readFileSync(`${directory}.log`, 'utf8'), /fast shutdown request/); // The gentlest shutdown that works.
  assert.deepEqual(await lostOf(owner.acked, url), []);
});

test('OP-15 a fault that ends Purser ends its server', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const owner = runOwner(t, { directory, without: ['setpriv'] });
  assert.match(await owner.answer, /^ready /);
  const pid = postmasterPid(directory);
  await owner.crash();
  await until('the server has ended', () => !runs(pid));
});

test('OP-15 Ctrl-C does not stop the server under Purser', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const owner = runOwner(t, { directory, ownGroup: true });
  const url = (await owner.answer).replace('ready ', '');
  process.kill(-owner.child.pid!, 'SIGINT');
  for (let count = 0; count < 10; count += 1) assert.equal(await answersAt(url), true);
  assert.doesNotMatch(readFileSync(`${directory}.log`, 'utf8'), /shutdown request/);
});

test('OP-15 a killed first start does not block the next', async (t) => {
  const directory = makePrivateDataDirectory(t);
  const owner = runOwner(t, { directory });
  const workshop = (): string | undefined =>
    readdirSync(dirname(directory)).find((name) => existsSync(join(dirname(directory), name, 'data', 'PG_VERSION')));
  await until('the database is half made', () => workshop()?.includes('.tmp-') === true);
  await killOwner(owner);
  assert.equal(existsSync(directory), false);
  const { url } = await start(t, directory);
  assert.equal(workshop(), undefined);
  assert.equal(await answersAt(url), true);
});

test('OP-15 a leftover backend does not prevent a restart', {
  skip: !isLinux,
}, async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { url } = await start(t, directory);
  const busy = query(url, "do $$ begin while clock_timestamp() < now() + '1 min' loop end loop; end $$").catch(
    () => 'cut off',
  );
  const findBusy = "select pid from pg_stat_activity where query like 'do %' and state = 'active'";
  await until('the backend is busy', async () => (await query(url, findBusy)).length === 1);
  const [{ pid } = {}] = await query(url, findBusy);
  process.kill(postmasterPid(directory), 'SIGKILL');
  assert.equal(await busy, 'cut off');
  await until('the server is back', () => answersAt(url));
  assert.equal(runs(Number(pid)), false);
});

test('OP-15 a process with a dead postmaster’s id is left alone', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { stop } = await start(t, directory);
  const file = readFileSync(join(directory, 'postmaster.pid'), 'utf8');
  await stop();
  const bystander = spawn('sleep', ['60'], { cwd: '/', stdio: 'ignore' });
  afterwards(t, () => bystander.kill());
  writeFileSync(join(directory, 'postmaster.pid'), file.replace(/^\d+/, String(bystander.pid)));
  const { url } = await start(t, directory);
  assert.equal(await answersAt(url), true);
  assert.equal(runs(bystander.pid!), true);
});

test('OP-15 a stop after the postmaster’s death reports nothing', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { url, stop } = await start(t, directory);
  const killed = postmasterPid(directory);
  process.kill(killed, 'SIGKILL');
  await until('it is noticed', () => !runs(killed));
  await stop();
  assert.equal(await answersAt(url), false);
  assert.equal(existsSync(`${directory}.owner`), false);
});

test('OP-15 a server stopped by hand restarts, but not after `stop`', async (t) => {
  const directory = join(makeOpenDirectory(t), 'postgres');
  const { url, stop } = await start(t, directory);
  process.kill(postmasterPid(directory), 'SIGINT');
  await until('the server is down', async () => !(await answersAt(url)));
  await until('the server is back', () => answersAt(url));
  const pid = postmasterPid(directory);
  await stop();
  assert.equal(runs(pid), false);
  assert.equal(existsSync(join(directory, 'postmaster.pid')), false);
});
