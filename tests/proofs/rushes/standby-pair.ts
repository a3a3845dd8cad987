// Two PostgreSQL servers: a leader, and a standby whose confirmation its commits wait for.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { migrate } from '../../../packages/service/src/db/schema/migrate.ts';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { findBinaries } from '../../../packages/service/src/embedded/files/binaries.ts';
import { ensureCluster, SUPERUSER } from '../../../packages/service/src/embedded/server/cluster.ts';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { layOut } from '../../../packages/service/src/embedded/files/layout.ts';
import { launchPostmaster, type Postmaster } from '../../../packages/service/src/embedded/server/postmaster.ts';
import { choosePrivileges } from '../../../packages/service/src/embedded/processes/privileges.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import type { TestDatabase } from '../../support/database.ts';
import { afterwards, makeOpenDirectory, query, runs } from '../../support/embedded-harness.ts';
import { EMAIL_SEAL } from '../../support/keys.ts';
import { descendantsOf } from '../../support/service-process.ts';

const DATABASE = 'purser';
const SETTINGS = { shared_buffers: '32MB', max_connections: '100' };

interface PairServer {
  /** The address of the database, at this server alone. */
  readonly url: string;
  readonly port: number;
  /** Freezes every process of the server, like a machine that hangs. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Kills every process of the server at once. */
  readonly kill: () => Promise<void>;
  readonly launch: () => Promise<void>;
  /** Makes a standby take writes, on the next timeline. */
  readonly promote: () => Promise<void>;
}

interface StandbyPair {
  /** Leads. */
  readonly first: PairServer;
  /** Follows. Its own commits wait for nobody. */
  readonly second: PairServer;
  /** Names both. */
  readonly url: string;
  /** The database has the schema and nothing else. Its pool follows the leader. */
  readonly database: TestDatabase;
}

/** Starts both and removes them after the test. Linux only. */
export async function startStandbyPair(t: TestContext): Promise<StandbyPair> {
  const directory = makeOpenDirectory(t);
  const binaries = await findBinaries();
  const layouts = [await layOut(path.join(directory, 'first')), await layOut(path.join(directory, 'second'))] as const;
  const privileges = await choosePrivileges(binaries, layouts[0], []);
  const password = await ensureCluster({ binaries, privileges, layout: layouts[0], say: () => undefined });
  execFileSync('cp', ['-a', layouts[0].directory, layouts[1].directory]);
  writeFileSync(path.join(layouts[1].directory, 'standby.signal'), '');
  const ports = [await findFreePort(), await findFreePort()] as const;
  const urlOf = (hosts: string, database = DATABASE): string =>
    `postgres://${SUPERUSER}:${password}@${hosts}/${database}`;

  const serverOf = async (place: 0 | 1, settings: Readonly<Record<string, string>>): Promise<PairServer> => {
    const port = ports[place];
    const url = urlOf(`127.0.0.1:${port}`, 'postgres');
    let postmaster: Postmaster | undefined;
    const launch = async (): Promise<void> => {
      const further = { ...SETTINGS, ...settings };
      const layout = layouts[place];
      postmaster = await launchPostmaster(
        { binaries, privileges, layout, port, url, settings: further },
        new AbortController().signal,
      );
    };
    const signal = (name: NodeJS.Signals): void => {
      const { pid = 0 } = postmaster ?? {};
      for (const one of [pid, ...descendantsOf(pid)]) if (runs(one)) process.kill(one, name);
    };
    await launch();
    afterwards(t, async () => {
      signal('SIGCONT');
      signal('SIGKILL');
      await postmaster?.exited;
    });
    return {
      url: urlOf(`127.0.0.1:${port}`),
      port,
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      kill: async () => {
        signal('SIGKILL');
        await postmaster?.exited;
      },
      launch,
      promote: async () => void (await query(url, 'select pg_promote()')),
    };
  };

  const first = await serverOf(0, { synchronous_standby_names: 'walreceiver' });
  const conninfo = `host=127.0.0.1 port=${ports[0]} user=${SUPERUSER} password=${password}`;
  const second = await serverOf(1, { primary_conninfo: conninfo, wal_retrieve_retry_interval: '100ms' });
  await query(urlOf(`127.0.0.1:${ports[0]}`, 'postgres'), `create database ${DATABASE}`);
  const url = urlOf(ports.map((port) => `127.0.0.1:${port}`).join(','));
  const owner = createPool({ url, role: 'owner', connectionsMax: 4, log: createLog('silent'), emails: EMAIL_SEAL });
  await migrate(owner);
  return { first, second, url, database: { url: first.url, owner, close: () => owner.end() } };
}
