import type { Queryable } from '#db/pool.ts';

interface AttentionRow {
  readonly kept: number;
  readonly late_refunds: number;
}

/**
 * Cases of payments that wait for a person. Refunds that the processor has not decided for
 * a day. At most `most` of each are counted.
 */
export async function selectPaymentsAttention(db: Queryable, most: number): Promise<AttentionRow> {
  const { rows } = await db.query<AttentionRow>(
    `select
       (select count(*)::int from (
         select from payments.cases c where c.closed_at is null limit $1) k) as kept,
       (select count(*)::int from (
         select from payments.refunds r
         where r.state = 'asked' and r.created_at < clock_timestamp() - interval '1 day'
         limit $1) l) as late_refunds`,
    [most],
  );
  return rows[0] ?? { kept: 0, late_refunds: 0 };
}
