import { StartError } from '#app/environment/start-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectOpenRestore } from '#db/identity/restore-queries.ts';
import { isoOf } from '#kernel/time/clock.ts';

/**
 * Throws `StartError` if this database came out of a backup and nobody has said yet that the original is gone: two services on two copies
 * of the same books would both take calls, send mail and pay refunds.
 */
export async function refuseCopy(owner: Pool): Promise<void> {
  const restore = await selectOpenRestore(owner);
  if (restore === undefined) return;
  const until = restore.until_at === null ? '' : ` It ends at ${isoOf(restore.until_at.getTime())}.`;
  throw new StartError(
    `This database came out of the backup ${restore.backup}.${until} Make sure that no service runs on the original any more, and that you have ` +
      "done what the operator's guide says of a restore. Then run `npm run purser -- backup accept`.",
  );
}
