// `purser cells subscribe --again` between two databases of one server, and what stands in its way.
import { copyAgain } from '../../../packages/service/src/cells/copy.ts';
import { isCopying } from '../../../packages/service/src/cells/queries.ts';
import { inTransaction } from '../../../packages/service/src/db/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import type { TestDatabase } from '../../support/database.ts';
import { waitUntil } from '../../support/wait-until.ts';

export function setCopyStage(directory: TestDatabase, copy: TestDatabase) {
  const again = (databaseUrl = directory.url) =>
    copyAgain(copy.owner, { name: 'c2', databaseUrl, log: createLog('silent'), waitMsMax: 200 });
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
      const { rows } = await directory.owner.query<{ active: boolean }>(
        `select active from pg_replication_slots where slot_name = 'purser_c2'`,
      );
      return rows[0]?.active;
    },
    isCopying: () => isCopying(copy.owner),
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
