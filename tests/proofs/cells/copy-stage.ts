// `purser cells subscribe --again` between two databases of one server, and what stands in its way.
import type { TestContext } from 'node:test';
import { copyAgain } from '../../../packages/service/src/cells/directory/copy.ts';
import { isCopying } from '../../../packages/service/src/cells/directory/queries.ts';
import { inTransaction } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

export function setCopyStage(directory: TestDatabase, copy: TestDatabase) {
  const again = (databaseUrl = directory.url) =>
    copyAgain(copy.owner, { name: 'c2', databaseUrl, log: createLog('silent'), waitMsMax: 200 });
  const workerOf = async () => {
    return sqlValue<number>(copy)`select pid from pg_stat_subscription where subname = 'purser_directory'
      and pid is not null`;
  };
  return {
    again,
    /** The same while a transaction in the directory does not end. */
    againInVain: () =>
      inTransaction(directory.owner, async (tx) => {
        await tx.query('select pg_current_xact_id()');
        return await again();
      }),
    /** Whether somebody reads the slot of the copy. Undefined: there is no slot. */
    isRead: async () => {
      return sqlValue<boolean>(directory)`select active from pg_replication_slots where slot_name = 'purser_c2'`;
    },
    isCopying: () => isCopying(copy.owner),
    /** Lets PostgreSQL try to go on copying, through a network that says nothing. Returns the process that tries. */
    tryInVain: async (t: TestContext): Promise<number> => {
      const network = await startDatabaseProxy(directory.url);
      t.after(network.close);
      network.fallSilent();
      await copy.owner.query(`alter subscription purser_directory connection '${network.url}'`);
      await sql(copy)`alter subscription purser_directory enable`;
      return await waitUntil('PostgreSQL tries to go on', workerOf);
    },
    /** Returns the process that copies, or that tries to reach the directory; undefined if there is none at the moment. */
    workerOf,
    /** A run that has read the whole directory, and goes on when it is released. */
    halfway: async () => {
      const client = await copy.owner.connect();
      await client.query('begin; lock table db.identity in share mode'); // It counts itself there when it has read all.
      const run = again();
      run.catch(() => {}); // It is looked at later.
      await waitUntil('the run waits', async () => {
        const { rowCount } = await directory.owner.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update db.identity %'`,
        );
        return rowCount === 1;
      });
      return {
        run,
        release: async () => {
          await client.query('commit');
          client.release();
        },
      };
    },
  };
}
