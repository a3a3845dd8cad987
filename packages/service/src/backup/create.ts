import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { explained } from '#backup/backup-error.ts';
import { copyBase } from '#backup/base-copy.ts';
import { type Backup, beginBackup, filesOf, pruneBackups } from '#backup/folder.ts';
import { selectArchiver, switchLog } from '#backup/queries.ts';
import { copySettlements, forceToDisk } from '#backup/settlements.ts';
import { VERSION } from '#db/schema/functions.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectSource } from '#db/identity/restore-queries.ts';
import { isoOf, systemClock } from '#kernel/time/clock.ts';
import { sleep } from '#kernel/time/sleep.ts';

interface CreateOptions {
  /** The embedded server, while it runs. */
  readonly server: { readonly url: string; readonly pool: Pool };
  readonly dataDirectory: string;
  /** The folder of all backups. */
  readonly backups: string;
  /** How many backups are kept. If it is undefined, all are. */
  readonly keep: number | undefined;
}

interface Created {
  readonly backup: Backup;
  readonly removed: readonly string[];
  /** Whether the log up to this moment is in the archive. Undefined if the server keeps none. */
  readonly isLogKept: boolean | undefined;
}

const KEEP_POLL_MS = 100;
const KEEP_MS_MAX = 30_000;

/**
 * Makes a backup of the embedded server while it works. A backup that is cut off, by a kill or a full disk, is never taken for a whole
 * one.
 */
export async function createBackup({ server, dataDirectory, backups, keep }: CreateOptions): Promise<Created> {
  const { url, pool } = server;
  const source = await selectSource(pool);
  try {
    const draft = await beginBackup(backups, source.system_id, systemClock.nowMs());
    let backup: Backup;
    try {
      const files = filesOf(draft.folder);
      const settlements = path.join(dataDirectory, 'settlements');
      // Before the base and after it: one that goes into the database meanwhile may be too late for the base. Settling twice is
      // the same as settling once, and a settlement that is in neither was written when the database in the backup had ended.
      await copySettlements(settlements, files.settlements, 'onto');
      const base = await copyBase(url, files.archive, files.manifest);
      const { now: ended } = await selectSource(pool);
      await copyFile(path.join(dataDirectory, 'postgres.secret'), files.password);
      await forceToDisk(files.password);
      await copySettlements(settlements, files.settlements, 'onto');
      const { schema, database_id: databaseId, system_id: systemId, server_version: postgres } = source;
      backup = await draft.finish({
        purser: VERSION,
        postgres,
        schema,
        systemId,
        databaseId,
        secretFingerprint: source.secret_fingerprint?.toString('hex') ?? null,
        startedAt: isoOf(source.now.getTime()),
        endedAt: isoOf(ended.getTime()),
        ...base,
      });
    } catch (fault) {
      await draft.discard().catch(() => undefined);
      throw fault;
    }
    const isLogKept = await keepLogNow(pool);
    return {
      backup,
      isLogKept,
      removed: keep === undefined ? [] : await pruneBackups(backups, source.system_id, keep),
    };
  } catch (fault) {
    throw explained(fault, 'The backup was not made, and nothing of it is left');
  }
}

/** Lets the server keep what it has written until now, and waits for that. Undefined if it keeps no log. */
async function keepLogNow(pool: Pool): Promise<boolean | undefined> {
  const { rows } = await pool.query<{ archive_mode: string }>('show archive_mode');
  if (rows[0]?.archive_mode === 'off') return undefined;
  const part = await switchLog(pool);
  for (let waitedMs = 0; waitedMs < KEEP_MS_MAX; waitedMs += KEEP_POLL_MS) {
    const { kept, is_failing: isFailing } = await selectArchiver(pool);
    if (kept >= part) return true;
    if (isFailing) return false;
    await sleep(KEEP_POLL_MS);
  }
  return false;
}
