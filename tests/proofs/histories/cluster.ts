import { join } from 'node:path';
import { findBinaries } from '../../../packages/service/src/embedded/files/binaries.ts';
import { ensureCluster, SUPERUSER } from '../../../packages/service/src/embedded/server/cluster.ts';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { layOut } from '../../../packages/service/src/embedded/files/layout.ts';
import { clearLeftovers } from '../../../packages/service/src/embedded/processes/leftovers.ts';
import { launchPostmaster, type Postmaster } from '../../../packages/service/src/embedded/server/postmaster.ts';
import { choosePrivileges } from '../../../packages/service/src/embedded/processes/privileges.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';

/** The PostgreSQL server of one history, which dies and restarts when the history says so. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const log = createLog('silent');
const never = new AbortController().signal;

export async function startCluster(directory: string) {
  const binaries = await findBinaries();
  const layout = await layOut(join(directory, 'postgres'));
  const privileges = await choosePrivileges(binaries, layout, []);
  const password = await ensureCluster({ binaries, privileges, layout, say: () => {} });
  const port = await findFreePort();
  const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
  const launch = (): Promise<Postmaster> => launchPostmaster({ binaries, privileges, layout, port, url }, never);
  let postmaster = await launch();
  return {
    url,
    /** Kills it as `pg_ctl -m immediate` does, or by SIGKILL, and waits until it is gone. */
    kill: async (signal: 'SIGQUIT' | 'SIGKILL') => {
      process.kill(postmaster.pid, signal);
      await postmaster.exited;
    },
    /** Starts it again on its port and waits until it answers. */
    restart: async () => {
      await clearLeftovers(layout, log);
      postmaster = await launch();
    },
    stop: () => postmaster.stop(),
  };
}
