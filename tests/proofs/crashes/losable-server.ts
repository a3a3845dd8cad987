// A separate PostgreSQL that a test can stop, kill and restart.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { migrate } from '../../../packages/service/src/db/schema/migrate.ts';
import { createTestDatabase } from '../../support/database.ts';
import { afterwards, makeOpenDirectory, postmasterPid, query, runOwner, runs } from '../../support/embedded-harness.ts';
import { descendantsOf } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

export type LosableServer = Awaited<ReturnType<typeof startLosableServer>>;

/** Starts it and removes it after the test. Linux only. */
export async function startLosableServer(t: TestContext) {
  const directory = path.join(makeOpenDirectory(t), 'postgres');
  const owner = runOwner(t, { directory });
  const [, url] = /^ready (.*)$/.exec(await owner.answer) ?? [];
  if (url === undefined) throw new Error('The server did not start.');
  const database = await createTestDatabase({ server: url });
  await migrate(database.owner);
  const family = (): readonly number[] => {
    const postmaster = postmasterPid(directory);
    return [postmaster, ...descendantsOf(postmaster)];
  };
  const thaw = async (): Promise<void> => signal(family(), 'SIGCONT');
  const revive = async (): Promise<void> => {
    owner.child.kill('SIGCONT');
    await waitUntil('the server answers again', () =>
      query(url, 'select').then(
        () => true,
        () => false,
      ),
    );
  };
  return {
    directory,
    /** The database has the schema and nothing else. */
    database,
    /** Freezes every process of the server, like a machine that hangs. */
    freeze: async () => {
      afterwards(t, thaw);
      signal(family(), 'SIGSTOP');
    },
    thaw,
    /** Kills every process of the server at once. Nothing restarts it until `revive`. */
    kill: async () => {
      afterwards(t, revive);
      const pids = family();
      owner.child.kill('SIGSTOP'); // It would start the server again at once.
      signal(pids, 'SIGKILL');
      await waitUntil('the server is gone', () => pids.every((pid) => !runs(pid)));
    },
    revive,
  };
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) if (runs(pid)) process.kill(pid, name);
}
