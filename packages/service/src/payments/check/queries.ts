import type { Queryable } from '#db/pool/pool.ts';

/** The differences between payments and ledger, see `differences.sql`. */
export async function selectDifferences(
  db: Queryable,
): Promise<
  readonly { readonly rule: string; readonly wallet_id: bigint; readonly expected: bigint; readonly found: bigint }[]
> {
  const { rows } = await db.query<{ rule: string; wallet_id: bigint; expected: bigint; found: bigint }>(
    `select rule, wallet_id, expected, found from payments.differences() order by wallet_id, rule`,
  );
  return rows;
}

/** A movement of money with a processor, as our books have it. */
export interface BookedRow {
  readonly kind: 'payment' | 'refund' | 'movement';
  /** The processor's id of the payment, the refund, or the movement of a dispute. */
  readonly processor_id: string;
  readonly payment_id: string;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly at: Date;
  /**
   * The state. It is `credited` or `kept` for a payment, `asked`, `paid` or `declined` for a refund, and `taken` or
   * `returned` for a dispute.
   */
  readonly state: string;
}

/** Each part reads by one index: the processor's ids, or the time of the booking. */
const BOOKED = `select 'payment' as kind, p.processor_payment as processor_id, p.payment_id, p.amount_micros, p.currency, p.paid_at as at,
    p.state
  from payments.payments p where p.processor = $1 and`;

const REFUNDED = `select 'refund' as kind, r.processor_refund as processor_id, r.payment_id, r.amount_micros, p.currency,
    coalesce(r.ended_at, r.created_at) as at, r.state
  from payments.refunds r join payments.payments p using (payment_id) where r.processor = $1 and`;

const DISPUTED = `select 'movement' as kind, m.processor_movement as processor_id, m.payment_id, m.amount_micros, p.currency, m.at,
    case when m.is_reinstated then 'returned' else 'taken' end as state
  from payments.dispute_movements m join payments.payments p using (payment_id) where m.processor = $1 and`;

/** What we have booked under these ids of the processor. */
export async function selectBooked(
  db: Queryable,
  processor: string,
  ids: {
    readonly payments: readonly string[];
    readonly refunds: readonly string[];
    readonly movements: readonly string[];
  },
): Promise<readonly BookedRow[]> {
  const { rows } = await db.query<BookedRow>(
    `${BOOKED} p.processor_payment = any ($2::text[]) union all ${REFUNDED} r.processor_refund = any ($3::text[])
     union all ${DISPUTED} m.processor_movement = any ($4::text[])`,
    [processor, ids.payments, ids.refunds, ids.movements],
  );
  return rows;
}

/** What we booked in a time, of all wallets, up to `most`. Refunds count when they were paid; those under way do not. */
export async function selectBookedBetween(
  db: Queryable,
  processor: string,
  { from, to, most }: { readonly from: Date; readonly to: Date; readonly most: number },
): Promise<readonly BookedRow[]> {
  const { rows } = await db.query<BookedRow>(
    `${BOOKED} p.paid_at >= $2 and p.paid_at < $3
     union all ${REFUNDED} r.state = 'paid' and r.ended_at >= $2 and r.ended_at < $3 and r.processor_refund is not null
     union all ${DISPUTED} m.at >= $2 and m.at < $3
     limit $4`,
    [processor, from, to, most],
  );
  return rows;
}
