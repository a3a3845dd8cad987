import type { Queryable } from '#db/pool/pool.ts';

/** Returns true when it is this process's turn to check what is new. */
export async function beginCheck(db: Queryable, periodMs: number): Promise<boolean> {
  const { rows } = await db.query<{ begun: boolean }>(`select ledger.begin_check($1) as begun`, [periodMs]);
  return rows[0]?.begun ?? false;
}

export async function endCheck(db: Queryable, differences: bigint): Promise<void> {
  await db.query(`select ledger.end_check($1)`, [differences]);
}

/** Reads the result of the last pass that finished, in any process. */
export async function selectLastCheck(
  db: Queryable,
): Promise<{ readonly ended_seconds: number; readonly differences: bigint }> {
  const { rows } = await db.query<{ ended_seconds: number; differences: bigint }>(
    `select extract(epoch from ended_at)::float8 as ended_seconds, differences from ledger.last_check`,
  );
  return rows[0] ?? { ended_seconds: 0, differences: 0n };
}
