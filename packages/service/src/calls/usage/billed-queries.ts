import type { Queryable } from '#db/pool/pool.ts';

/** What calls of a day used at one price. Null beside `last_wallet` if the wallets of a page made none. */
export interface BilledRow {
  readonly last_wallet: bigint;
  readonly day: string | null;
  readonly price_id: bigint;
  readonly is_charged: boolean;
  readonly calls: bigint;
  readonly input_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly output_tokens: bigint;
  readonly rare_calls: bigint;
}

/** Reads what was billed, see `billed.sql`. */
export async function selectBilled(
  db: Queryable,
  { after, most, from, to }: { readonly after: bigint; readonly most: number; readonly from: Date; readonly to: Date },
): Promise<readonly BilledRow[]> {
  const { rows } = await db.query<BilledRow>('select * from usage.billed($1, $2, $3, $4)', [after, most, from, to]);
  return rows;
}
