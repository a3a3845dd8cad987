import type { Queryable } from '#db/pool/pool.ts';

/** Notes that an archive of a month was read back and found whole. */
export async function noteArchived(db: Queryable, month: string): Promise<void> {
  await db.query(`update ledger.months set archived_at = clock_timestamp() where month = $1`, [month]);
}

/** Takes the receipts of a month out of the database, see `detach_month.sql`. */
export async function detachReceipts(tx: Queryable, month: string): Promise<void> {
  await tx.query(`select ledger.detach_month($1)`, [month]);
}

/** The detached month whose receipts have this hash. */
export async function selectDetached(db: Queryable, hash: Buffer): Promise<string | undefined> {
  const { rows } = await db.query<{ month: string }>(
    `select month::text as month from ledger.months where rows_hash = $1 and detached_at is not null order by month desc limit 1`,
    [hash],
  );
  return rows[0]?.month;
}

/** Makes the empty table of a detached month, see `begin_restore.sql`. */
export async function beginRestore(db: Queryable, month: string): Promise<void> {
  await db.query(`select ledger.begin_restore($1)`, [month]);
}

/** Adds receipts to the table of a month that is no part of the whole yet, see `restore_page.sql`. */
export async function insertReceipts(
  db: Queryable,
  month: string,
  rows: readonly Readonly<Record<string, string | null>>[],
): Promise<void> {
  await db.query(`select ledger.restore_page($1, $2)`, [month, JSON.stringify(rows)]);
}

/** Makes the restored receipts of a month a part of the whole again, see `end_restore.sql`. */
export async function endRestore(tx: Queryable, month: string): Promise<void> {
  await tx.query(`select ledger.end_restore($1)`, [month]);
}
