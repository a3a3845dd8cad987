import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../packages/service/src/db/migrate.ts';
import { createPool } from '../../packages/service/src/db/pool.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../packages/service/src/embedded/embedded-postgres.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { TEMPLATE_DATABASE } from './database.ts';

/** One real PostgreSQL for the whole run, with a migrated database that each test file copies. */

const log = createLog('silent');
let server: EmbeddedPostgres | undefined;
let directory: string | undefined;

/** Files in memory, where Linux has them. A disk takes ten times as long to copy the template, and to remove the copy. */
const MEMORY_DISK = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30; // Four times what it has been seen to take.

export async function globalSetup(): Promise<void> {
  directory = mkdtempSync(path.join(hasMemoryDisk() ? MEMORY_DISK : os.tmpdir(), 'purser-test-'));
  // What must outlast a crash of the database is tested on servers that those tests start themselves.
  const where = path.join(directory, 'postgres');
  server = await startEmbeddedPostgres({ directory: where, log, say: () => {}, isThrowaway: true });
  process.env['PURSER_TEST_SERVER'] = server.url;
  const admin = createPool({ url: server.url, role: 'owner', connectionsMax: 1, log });
  await admin.query(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  const url = new URL(server.url);
  url.pathname = `/${TEMPLATE_DATABASE}`;
  const owner = createPool({ url: url.href, role: 'owner', connectionsMax: 1, log });
  await migrate(owner);
  await owner.end();
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
}

/** In a container it may be there with next to nothing in it. */
function hasMemoryDisk(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return Math.min(bavail * bsize, os.freemem()) >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}
