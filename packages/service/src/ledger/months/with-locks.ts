import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction, type Pool, type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { setLockTimeout } from '#ledger/months/queries.ts';

/** Calls that come while a statement waits for a lock wait behind it. So it waits briefly, and tries often. */
const LOCK_MS = 200;
const TRIES_MAX = 50;
const PAUSE_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';

/** Runs a transaction that locks tables that calls use. */
export async function withLocks(owner: Pool, work: (tx: Queryable) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await inTransaction(owner, async (tx) => {
        await setLockTimeout(tx, LOCK_MS);
        await work(tx);
      });
      return;
    } catch (fault) {
      if (sqlStateOf(fault) !== LOCK_NOT_AVAILABLE || tries === TRIES_MAX) throw fault;
      await sleep(PAUSE_MS);
    }
  }
}
