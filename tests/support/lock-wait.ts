import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { TestDatabase } from './database.ts';
import { sqlValue } from './sql.ts';
import { waitUntil } from './wait-until.ts';

/** Keeps a wallet's row locked, as a slow statement would, so that others pile up behind it in a known order. */
export async function lockWallet({ owner }: TestDatabase, user: string) {
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
    /** Waits until this many statements queue behind the lock. If they do not come, the lock is released. */
    waiting: async (count: number) => {
      try {
        await untilWaiting({ owner }, count);
      } catch (fault) {
        await release();
        throw fault;
      }
    },
    /** Changes the wallet under the lock. Those that wait see it when the lock is released. */
    change: async (assignment: string) => {
      await client.query(`update ledger.wallets set ${assignment} where user_id = $1`, [user]);
    },
    release,
  };
}

/**
 * Lets the connections that this pool makes from now on wait longer for a row than calls do, so that what fails is a deadlock, which is
 * found after a second, and no row that a busy machine keeps locked.
 */
export function waitLongForLocks(pool: Pool): void {
  pool.on('connect', (client) => void client.query(`set lock_timeout = '20s'`));
}

/** Resolves once this many statements wait for a lock. */
export async function untilWaiting(database: Pick<TestDatabase, 'owner'>, count: number): Promise<void> {
  await waitUntil(`${count} statements wait`, async () => (await countWaiting(database)) >= count);
}

export async function countWaiting({ owner }: Pick<TestDatabase, 'owner'>): Promise<number> {
  const waiting = await sqlValue<number>(owner)`select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return waiting ?? 0;
}

/** Locks a table until it is released. Each statement that needs it waits and then fails. */
export async function lockTable({ owner }: Pick<TestDatabase, 'owner'>, table: string): Promise<() => Promise<void>> {
  const client = await owner.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return async () => {
    await client.query('commit');
    client.release();
  };
}

/** Makes each insert into a table take a second. Lock timeouts do not end it. */
export async function dawdleAt({ owner }: Pick<TestDatabase, 'owner'>, table: string): Promise<void> {
  await owner.query(`
    create or replace function public.dawdle() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1); return new; end $$;
    create trigger dawdle before insert on ${table} for each row execute function public.dawdle()`);
}

/** Resolves once an insert is waiting. */
export async function untilDawdling({ owner }: Pick<TestDatabase, 'owner'>): Promise<void> {
  await waitUntil('an insert is waiting', async () => {
    const { rowCount } = await owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    );
    return rowCount !== 0;
  });
}
