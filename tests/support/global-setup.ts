import { mkdtempSync, rmSync } from 'node:fs';
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

export async function globalSetup(): Promise<void> {
  directory = mkdtempSync(path.join(os.tmpdir(), 'purser-test-'));
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
