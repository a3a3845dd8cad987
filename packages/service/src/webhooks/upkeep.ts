import type { Pool } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';
import { dropStale, sweepEvents } from '#webhooks/queries.ts';

const AT_ONCE = 1_000;

/** Drops what waits for a subscription that is gone or disabled: of one app, or of all. */
export async function dropAllStale(pool: Pool, appId?: AppId): Promise<void> {
  let dropped = AT_ONCE;
  while (dropped === AT_ONCE) dropped = await dropStale(pool, appId, AT_ONCE);
}

/** Removes events that ended 30 days ago. */
export async function sweepAllEnded(pool: Pool): Promise<void> {
  let removed = AT_ONCE;
  while (removed === AT_ONCE) removed = await sweepEvents(pool, AT_ONCE);
}
