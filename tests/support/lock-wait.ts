import type { TestDatabase } from './database.ts';
import { waitUntil } from './wait-until.ts';

/** Keeps a wallet's row locked, as a slow statement would, so that others pile up behind it in a known order. */
export interface WalletLock {
  /** Waits until so many statements stand in line behind the lock. Where they do not come, the lock is released. */
  readonly waiting: (count: number) => Promise<void>;
  readonly release: () => Promise<void>;
}

export async function lockWallet({ owner }: TestDatabase, user: string): Promise<WalletLock> {
  const client = await owner.connect();
  await client.query('begin');
  await client.query('select from ledger.wallets where user_id = $1 for update', [user]);
  let isReleased = false;
  const release = async (): Promise<void> => {
    if (isReleased) return;
    isReleased = true;
    await client.query('commit');
    client.release();
  };
  return {
    waiting: async (count) => {
      try {
        await untilWaiting({ owner }, count);
      } catch (fault) {
        await release();
        throw fault;
      }
    },
    release,
  };
}

/** Resolves once so many statements wait for a lock. */
export async function untilWaiting(database: Pick<TestDatabase, 'owner'>, count: number): Promise<void> {
  await waitUntil(`${count} statements wait`, async () => (await countWaiting(database)) >= count);
}

async function countWaiting({ owner }: Pick<TestDatabase, 'owner'>): Promise<number> {
  const { rows } = await owner.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}
