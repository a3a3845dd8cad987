import type { Queryable } from '#db/pool.ts';

interface AttentionRow {
  readonly kept: number;
  readonly late_refunds: number;
}

/**
 * Payments that wait for a person: they were kept, and not all of their money went back. Refunds that the processor has not decided for
 * a day. At most `most` of each are counted.
 */
export async function selectPaymentsAttention(db: Queryable, most: number): Promise<AttentionRow> {
  const { rows } = await db.query<AttentionRow>(
    `select
       (select count(*)::int from (
         select from payments.payments p
         where p.state = 'kept' and p.amount_micros > (
           select coalesce(sum(f.amount_micros), 0) from payments.refunds f
           where f.payment_id = p.payment_id and f.state <> 'declined')
         order by p.paid_at limit $1) k) as kept,
       (select count(*)::int from (
         select from payments.refunds r
         where r.state = 'asked' and r.created_at < clock_timestamp() - interval '1 day'
         limit $1) l) as late_refunds`,
    [most],
  );
  return rows[0] ?? { kept: 0, late_refunds: 0 };
}
