import { selectServer } from '#db/health/queries.ts';
import { openKeptKeys } from '#db/identity/kept-keys.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectOpenRestore } from '#db/identity/restore-queries.ts';
import { selectLateCounters } from '#backup/queries.ts';
import { printAuditCheck } from '#cli/books/audit-command.ts';
import { printLedgerCheck } from '#cli/books/ledger-command.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';
import { judgeArchive } from '#doctor/diagnosis/archive.ts';

/**
 * Checks a restored database as a whole: whether its log is kept, whether the secret opens its keys, whether counters are ahead of their
 * rows, the audit trail and the books. Exit status 1 if something is wrong.
 */
export async function printRestoredCheck(owner: Pool, secrets: Secrets): Promise<number> {
  const faults: string[] = [];
  const restore = await selectOpenRestore(owner);
  if (restore !== undefined) {
    const until = restore.until_at === null ? '' : ` up to ${isoOf(restore.until_at.getTime())}`;
    console.log(`This database came out of the backup ${restore.backup}${until}, and waits for \`backup accept\`.`);
  }
  const server = await selectServer(owner);
  const archive = restore === undefined ? judgeArchive(server) : undefined; // A copy that waits keeps its log to itself.
  if (archive !== undefined) faults.push(archive.what);
  else if (restore === undefined)
    console.log(
      server.archives ? 'The server keeps an archive of its log.' : 'The server keeps no archive of its log.',
    );
  const opened = await openKeptKeys(owner, secrets, { isGateway: false });
  if (opened === undefined) faults.push('PURSER_SECRET does not open the keys of this database.');
  else console.log('PURSER_SECRET opens the keys of this database.');
  const late = await selectLateCounters(owner);
  if (late.length > 0) faults.push(`Counters are behind the rows of ${late.join(', ')}: the next row would fail.`);
  const audit = await printAuditCheck(owner, secrets, undefined);
  if (audit !== 0) faults.push('The audit trail is not as it was.');
  const books = await printLedgerCheck(owner, { isIncremental: false });
  if (books !== 0) faults.push('The books are not clean.');
  for (const fault of faults) console.log(`BAD  ${fault}`);
  console.log(faults.length === 0 ? 'The database is whole.' : `${faults.length} things are wrong.`);
  return faults.length === 0 ? 0 : 1;
}
