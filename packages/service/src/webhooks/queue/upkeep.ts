import type { Pool } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { dropStale, sweepEvents } from '#webhooks/queue/queries.ts';

/** Rows in one statement. Small enough that no lock is held for long, even if a whole backlog must go. */
const AT_ONCE = 1_000;

/** Drops the events of one app, or of all, that wait for a subscription that was removed or disabled. */
export async function dropAllStale(pool: Pool, appId?: AppId): Promise<void> {
  let dropped = AT_ONCE;
  while (dropped === AT_ONCE) dropped = await dropStale(pool, appId, AT_ONCE);
}

/** Deletes events that ended `keptDays` days ago, or none if it is 0. */
export async function sweepAllEnded(pool: Pool, keptDays: number): Promise<void> {
  if (keptDays === 0) return;
  let removed = AT_ONCE;
  while (removed === AT_ONCE) removed = await sweepEvents(pool, keptDays, AT_ONCE);
}
