import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../packages/service/src/embedded/embedded-postgres.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { TEMPLATE_DATABASE } from './database.ts';

/** One real PostgreSQL for the whole run, with a migrated database that each test file copies. */

const log = createLog('silent');
let server: EmbeddedPostgres | undefined;
let directory: string | undefined;

/**
 * A file system in memory, if Linux has one. On an ext4 disk, copying the template and removing the copy took half a second of
 * processor time for each test file, because inodes that were just freed are skipped one by one.
 */
const MEMORY_DISK = '/dev/shm';
/** The directory of a run, named after its process. */
const LEFTOVER = /^purser-test-(\d+)-/;
/** It takes a few hundred MB, and up to 512 MB of log if a test fills large tables. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

export async function globalSetup(): Promise<void> {
  const parent = hasMemoryDisk() ? MEMORY_DISK : os.tmpdir();
  removeLeftovers(parent);
  directory = mkdtempSync(path.join(parent, `purser-test-${process.pid}-`));
  if (parent === MEMORY_DISK && runsPrograms()) keepTemporariesIn(directory);
  process.env['PURSER_TEST_FOLDER'] = directory;
  const compiled = compileService();
  // Tests of what must survive a database crash start servers of their own.
  const where = path.join(directory, 'postgres');
  server = await startEmbeddedPostgres({ directory: where, log, say: () => {}, isThrowaway: true });
  process.env['PURSER_TEST_SERVER'] = server.url;
  const admin = createPool({ url: server.url, role: 'owner', connectionsMax: 1, log });
  await admin.query(`create database ${TEMPLATE_DATABASE}`);
  await cheapenPassword(admin, server.url);
  await admin.end();
  const url = new URL(server.url);
  url.pathname = `/${TEMPLATE_DATABASE}`;
  const owner = createPool({ url: url.href, role: 'owner', connectionsMax: 1, log });
  await migrate(owner);
  await owner.end();
  await compiled;
}

/** Stores the password of the run with one round of hashing. With 4,096, each of some 3,000 connections costs its client 2 ms. */
async function cheapenPassword(admin: Pool, url: string): Promise<void> {
  const { username, password } = new URL(url);
  await admin.query(`set scram_iterations = 1; alter role ${username} password '${password}'`);
}

/**
 * Compiles the service once, while PostgreSQL starts. The first processes of a run all begin together, and each would
 * compile the service by itself.
 */
async function compileService(): Promise<void> {
  await Promise.all([
    import('../../packages/service/src/app/compose.ts'),
    import('../../packages/service/src/app/others/other-routes.ts'),
  ]);
  flushCompileCache();
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
}

/**
 * Keeps temporary directories of the tests in memory too. A new database cluster costs half as much there, and no test
 * waits for the disk.
 */
function keepTemporariesIn(parent: string): void {
  chmodSync(parent, 0o711); // Some tests run as another user.
  const temporaries = path.join(parent, 'tmp');
  mkdirSync(temporaries);
  chmodSync(temporaries, 0o1777);
  process.env['TMPDIR'] = temporaries;
}

/** Containers often mount it so that no program on it may run. Some tests install programs. */
function runsPrograms(): boolean {
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY_DISK);
  return mount !== undefined && !mount.includes('noexec');
}

/** Tells whether the disk in memory has room. In a container it may exist with almost no space. */
function hasMemoryDisk(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return Math.min(bavail * bsize, os.freemem()) >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Removes what a killed run left behind. Nothing else would free that memory. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = LEFTOVER.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(path.join(parent, name), { recursive: true, force: true });
    } catch {
      // A disk that a test mounted there is still in use. It takes little memory and harms no run.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return !(fault instanceof Error && 'code' in fault && fault.code === 'ESRCH');
  }
}
