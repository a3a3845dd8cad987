// A PostgreSQL server whose databases can be copied from, which the server of the run cannot.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../../packages/service/src/db/migrate.ts';
import { createPool } from '../../../packages/service/src/db/pool.ts';
import { findBinaries } from '../../../packages/service/src/embedded/binaries.ts';
import { ensureCluster, SUPERUSER } from '../../../packages/service/src/embedded/cluster.ts';
import { findFreePort } from '../../../packages/service/src/embedded/free-port.ts';
import { layOut } from '../../../packages/service/src/embedded/layout.ts';
import { launchPostmaster } from '../../../packages/service/src/embedded/postmaster.ts';
import { choosePrivileges } from '../../../packages/service/src/embedded/privileges.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { TEMPLATE_DATABASE, type TestDatabase } from '../../support/database.ts';
import { query } from '../../support/embedded-harness.ts';
import { EMAIL_SEAL } from '../../support/keys.ts';

/** The settings let all tables be copied at once: with the defaults it takes a minute. */
const SETTINGS = {
  shared_buffers: '32MB',
  wal_level: 'logical',
  wal_retrieve_retry_interval: '100ms',
  max_worker_processes: '40',
  max_logical_replication_workers: '32',
  max_sync_workers_per_subscription: '30',
  max_replication_slots: '40',
  max_wal_senders: '40',
};

export async function startLogicalServer() {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-logical-'));
  chmodSync(directory, 0o711);
  const binaries = await findBinaries();
  const layout = await layOut(path.join(directory, 'postgres'));
  const privileges = await choosePrivileges(binaries, layout, []);
  const password = await ensureCluster({ binaries, privileges, layout, say: () => undefined });
  const port = await findFreePort();
  const urlOf = (database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  const postmaster = await launchPostmaster(
    { binaries, privileges, layout, port, url: urlOf('postgres'), settings: SETTINGS, isThrowaway: true },
    new AbortController().signal,
  );
  const open = (name: string): TestDatabase => {
    const url = urlOf(name);
    const owner = createPool({ url, role: 'owner', connectionsMax: 4, log: createLog('silent'), emails: EMAIL_SEAL });
    return { url, owner, close: () => owner.end() };
  };
  await query(urlOf('postgres'), `create database ${TEMPLATE_DATABASE} template template0`);
  const template = open(TEMPLATE_DATABASE);
  await migrate(template.owner);
  await template.close();
  return {
    /** A new database with the schema and nothing else. It goes with the server. */
    addDatabase: async (name: string) => {
      await query(urlOf('postgres'), `create database ${name} template ${TEMPLATE_DATABASE}`);
      return open(name);
    },
    stop: async () => {
      await postmaster.stop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
