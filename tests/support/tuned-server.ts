// A PostgreSQL server with settings of its own, which the server of the run cannot have.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../packages/service/src/db/schema/migrate.ts';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import { findBinaries } from '../../packages/service/src/embedded/files/binaries.ts';
import { ensureCluster, SUPERUSER } from '../../packages/service/src/embedded/server/cluster.ts';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { layOut } from '../../packages/service/src/embedded/files/layout.ts';
import { type LaunchOptions, launchPostmaster } from '../../packages/service/src/embedded/server/postmaster.ts';
import { choosePrivileges } from '../../packages/service/src/embedded/processes/privileges.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { TEMPLATE_DATABASE, type TestDatabase } from './database.ts';
import { query } from './embedded-harness.ts';
import { EMAIL_SEAL } from './keys.ts';

export async function startTunedServer(options: Pick<LaunchOptions, 'settings' | 'isThrowaway'>) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-tuned-'));
  chmodSync(directory, 0o711);
  const binaries = await findBinaries();
  const layout = await layOut(path.join(directory, 'postgres'));
  const privileges = await choosePrivileges(binaries, layout, []);
  const password = await ensureCluster({ binaries, privileges, layout, say: () => undefined });
  const port = await findFreePort();
  const urlOf = (database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  const settings = { shared_buffers: '32MB', ...options.settings };
  const postmaster = await launchPostmaster(
    { ...options, binaries, privileges, layout, port, url: urlOf('postgres'), settings },
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
    /** The files of the server. */
    directory: layout.directory,
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
