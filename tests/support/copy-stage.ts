// `purser cells subscribe --again` between two databases of one server, and what stands in its way.
import { copyAgain } from '../../packages/service/src/cells/copy.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import type { TestDatabase } from './database.ts';
import { untilWaiting } from './lock-wait.ts';

type Replaced = Awaited<ReturnType<typeof copyAgain>>;

interface CopyStage {
  readonly again: (databaseUrl?: string) => Promise<Replaced>;
  /** A run that has read the whole directory, and goes on when it is released. */
  readonly halfway: () => Promise<{ readonly run: Promise<Replaced>; readonly release: () => Promise<void> }>;
}

export function setCopyStage(directory: TestDatabase, copy: TestDatabase): CopyStage {
  const again = (databaseUrl = directory.url) =>
    copyAgain(copy.owner, { name: 'c2', databaseUrl, log: createLog('silent') });
  return {
    again,
    halfway: async () => {
      const client = await copy.owner.connect();
      await client.query('begin; lock table webhooks.subscriptions in share mode'); // The last table.
      const run = again();
      run.catch(() => {}); // It is looked at later.
      await untilWaiting(copy, 1);
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
