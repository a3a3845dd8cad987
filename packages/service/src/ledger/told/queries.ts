import type { Queryable } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';

/** What the books have of a call: its receipt, and what was charged late and lost (WA-10). */
export interface BookedRow {
  readonly call_id: CallId;
  /**
   * The money that the call holds. It is null if the call has no receipt: it runs, or the books have never heard of it.
   */
  readonly held: bigint | null;
  readonly charged: bigint;
  readonly is_late: boolean;
  readonly late: bigint;
  readonly lost: bigint;
  readonly is_running: boolean;
  /** A receipt of it is in an archive, and not here. */
  readonly is_archived: boolean;
}

/** Reads what is booked for calls, see `booked_for.sql`. */
export async function selectBookedCalls(db: Queryable, calls: readonly CallId[]): Promise<readonly BookedRow[]> {
  if (calls.length === 0) return [];
  const { rows } = await db.query<BookedRow>(
    `select call_id, held, charged, is_late, late, lost, is_running, is_archived from ledger.booked_for($1)`,
    [calls],
  );
  return rows;
}
