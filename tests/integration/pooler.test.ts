import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { refuseUnfit } from '../../packages/service/src/app/start/unfit-database.ts';
import { isConnectionFault, createPool } from '../../packages/service/src/db/pool/pool.ts';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { afterwards, isRoot, makeOpenDirectory } from '../support/embedded-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const log = createLog('silent');
const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0;

async function openDatabase(t: TestContext): Promise<TestDatabase> {
  const database = await createTestDatabase();
  afterwards(t, database.close);
  return database;
}

/** Passes on all bytes, except for one parameter of each startup packet. */
async function startDropper(t: TestContext, databaseUrl: string, parameter: string): Promise<string> {
  const { hostname, port } = new URL(databaseUrl);
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.once('data', (startup) => {
      const text = startup.toString('latin1', 8);
      const kept = text.replace(new RegExp(`${parameter}\0[^\0]*\0`), '');
      const packet = Buffer.from(`\0\0\0\0${startup.toString('latin1', 4, 8)}${kept}`, 'latin1');
      packet.writeInt32BE(packet.length);
      server.write(packet);
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) socket.on('error', () => client.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterwards(t, () => void listener.close());
  const url = new URL(databaseUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return url.href;
}

test('OP-11 SB-03 a start refuses a pooler that drops role or limits', async (t) => {
  const database = await openDatabase(t);
  await refuseUnfit({ databaseUrl: database.url, durability: 'none' }, log);
  const url = await startDropper(t, database.url, 'options');
  await assert.rejects(refuseUnfit({ databaseUrl: url, durability: 'none' }, log), (fault) => {
    assert.match(String(fault), /ask for the role purser_live run as postgres: .*`options`.* without a pooler/);
    assert.doesNotMatch(String(fault), new RegExp(new URL(url).password));
    return true;
  });
  for (const role of ['live', 'owner'] as const) {
    const pool = createPool({ url, role, connectionsMax: 1, log });
    afterwards(t, () => pool.end());
    // A fault of the connection, so a settlement waits for a better one.
    await assert.rejects(pool.query('select 1'), isConnectionFault);
  }
});

/** Runs the real one in front of the database. */
async function startPgBouncer(t: TestContext, databaseUrl: string, settings: string): Promise<string> {
  const directory = makeOpenDirectory(t);
  const { username, password, hostname, port, pathname } = new URL(databaseUrl);
  const own = await findFreePort();
  const file = path.join(directory, 'pgbouncer.ini');
  writeFileSync(path.join(directory, 'users'), `"${username}" "${password}"\n`);
  writeFileSync(
    file,
    `[databases]\n* = host=${hostname} port=${port} password=${password}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}\n` +
      `unix_socket_dir =\nauth_type = plain\nauth_file = ${path.join(directory, 'users')}\n${settings}\n`,
  );
  chmodSync(directory, 0o755);
  const child = spawn('pgbouncer', [...(isRoot ? ['--user', 'nobody'] : []), file], { stdio: 'ignore' });
  afterwards(t, async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  await waitUntil('it listens', () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(own, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    return promise.finally(() => socket.destroy());
  });
  return `postgres://${username}:${password}@127.0.0.1:${own}${pathname}`;
}

for (const [settings, words] of [
  ['pool_mode = transaction', /startup parameters of a connection were refused \(.*options.*\).* without a pooler/],
  ['pool_mode = session', /startup parameters of a connection were refused \(.*options.*\).* without a pooler/],
  [
    'pool_mode = transaction\nignore_startup_parameters = options',
    /ask for the role purser_live run as postgres: .* without a pooler/,
  ],
] as const) {
  test(`OP-11 a start refuses a real PgBouncer (${settings.replace('\n', ', ')})`, {
    skip: !hasPgBouncer && 'PgBouncer is missing (Debian: apt-get install pgbouncer)',
  }, async (t) => {
    const database = await openDatabase(t);
    const url = await startPgBouncer(t, database.url, settings);
    await assert.rejects(refuseUnfit({ databaseUrl: url, durability: 'none' }, log), words);
  });
}
