import type { Queryable } from '#db/pool/pool.ts';

interface AttentionRow {
  readonly held_micros: bigint;
  readonly held_calls: number;
  /** The micros held by calls that have run for more than an hour. */
  readonly old_micros: bigint;
  readonly old_calls: number;
  readonly suspended: number;
  readonly newly_suspended: number;
  readonly checked_seconds: number;
  readonly differences: bigint;
}

/**
 * What operators look at first: money that calls hold, suspended wallets (at most `most` are counted), and the last check of the
 * ledger. Reads the open holds, as many as there are calls under way, and suspended wallets by their index.
 */
export async function selectLedgerAttention(db: Queryable, most: number): Promise<AttentionRow> {
  const { rows } = await db.query<AttentionRow>(
    `select h.*, s.*, extract(epoch from c.ended_at)::float8 as checked_seconds, c.differences
     from (
       select coalesce(sum(amount_micros), 0)::bigint as held_micros, count(*)::int as held_calls,
         coalesce(sum(amount_micros) filter (where placed_at < clock_timestamp() - interval '1 hour'), 0)::bigint as old_micros,
         (count(*) filter (where placed_at < clock_timestamp() - interval '1 hour'))::int as old_calls
       from ledger.holds
     ) h, (
       select count(*)::int as suspended, (count(*) filter (where exists (
           select from ledger.journal j
           where j.wallet_id = w.wallet_id and j.kind in ('charge_receivable', 'refund_receivable', 'claw_back_receivable')
             and j.at > clock_timestamp() - interval '24 hours'
         )))::int as newly_suspended
       from (select wallet_id from ledger.wallets where is_suspended order by wallet_id limit $1) w
     ) s, ledger.last_check c`,
    [most],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('There is always a last check.');
  return row;
}
