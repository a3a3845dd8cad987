import type { Queryable } from '#db/pool/pool.ts';

/** Lets no call hold or end in a month any more, see `bar_month.sql`. */
export async function barMonth(tx: Queryable, month: string): Promise<void> {
  await tx.query(`select ledger.bar_month($1)`, [month]);
}

/** How many running calls began in a month or before. */
export async function countHoldsOfMonth(db: Queryable, month: string): Promise<number> {
  const { rows } = await db.query<{ holds: number }>(
    `select count(*)::int as holds from ledger.holds h
     where h.call_id < (select m.before_call from ledger.months m where m.month = $1)`,
    [month],
  );
  return rows[0]?.holds ?? 0;
}

/** Keeps the sums and the hash of a month, see `close_month.sql`. */
export async function insertClosing(tx: Queryable, month: string, receipts: number, hash: Buffer): Promise<void> {
  await tx.query(`select ledger.close_month($1, $2, $3)`, [month, receipts, hash]);
}
