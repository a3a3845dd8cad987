import type { Queryable } from '#db/pool/pool.ts';

interface AttentionRow {
  readonly kept: number;
  readonly late_refunds: number;
  readonly open_disputes: number;
}

/** Banks want an answer to a dispute within 7 to 21 days. After that, nobody can do anything about it. */
const DISPUTE_DAYS = 21;

/**
 * Cases of payments that wait for a person. Refunds that the processor has not decided for
 * a day. Money that a bank took and has not given back. At most `most` of each are counted.
 */
export async function selectPaymentsAttention(db: Queryable, most: number): Promise<AttentionRow> {
  const { rows } = await db.query<AttentionRow>(
    `select
       (select count(*)::int from (
         select from payments.cases c where c.closed_at is null limit $1) k) as kept,
       (select count(*)::int from (
         select from payments.refunds r
         where r.state = 'asked' and r.created_at < clock_timestamp() - interval '1 day'
         limit $1) l) as late_refunds,
       (select count(*)::int from (
         select from payments.dispute_movements t
         where not t.is_reinstated and t.at > clock_timestamp() - $2 * interval '1 day' and not exists (
           select from payments.dispute_movements b
           where b.payment_id = t.payment_id and b.is_reinstated and b.at >= t.at
         )
         limit $1) d) as open_disputes`,
    [most, DISPUTE_DAYS],
  );
  return rows[0] ?? { kept: 0, late_refunds: 0, open_disputes: 0 };
}
