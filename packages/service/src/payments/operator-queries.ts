import type { Queryable } from '#db/pool.ts';
import type { AppId, CheckoutId, EndUserId, PaymentId } from '#kernel/ids.ts';
import type { PaymentAnomaly, PaymentRow, RefundRow } from '#payments/queries.ts';

export interface PaymentSums extends PaymentRow {
  readonly anomaly: PaymentAnomaly | null;
  readonly paid_at: Date;
  readonly refunded_micros: bigint;
  readonly disputed_micros: bigint;
}

/** What came into a wallet, all of it or one payment, and what went back of it, the newest first. */
export async function selectPayments(
  db: Queryable,
  of: {
    readonly appId: AppId;
    readonly userId: EndUserId;
    readonly paymentId?: PaymentId;
    readonly processor: string | undefined;
  },
  most: number,
): Promise<readonly PaymentSums[]> {
  const { rows } = await db.query<PaymentSums>(
    `select p.payment_id, p.app_id, p.user_id, p.processor_payment, p.amount_micros, p.currency, p.state, p.anomaly,
       p.paid_at, r.refunded::bigint as refunded_micros, d.disputed::bigint as disputed_micros
     from payments.payments p
     cross join lateral (
       select coalesce(sum(f.amount_micros), 0) as refunded from payments.refunds f
       where f.payment_id = p.payment_id and f.state <> 'declined'
     ) r
     cross join lateral (
       select greatest(0, coalesce(sum(case when m.is_reinstated then -m.amount_micros else m.amount_micros end), 0)) as disputed
       from payments.dispute_movements m where m.payment_id = p.payment_id
     ) d
     where p.app_id = $1 and p.user_id = $2 and ($3::text is null or p.processor = $3)
       and ($4::text is null or p.payment_id = $4)
     order by p.paid_at desc, p.payment_id limit $5`,
    [of.appId, of.userId, of.processor ?? null, of.paymentId ?? null, most],
  );
  return rows;
}

/** A refund that the processor is asked for, with whose it is. */
export interface AskedRefund extends RefundRow {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly checkout_id: CheckoutId;
  readonly processor_payment: string;
  readonly currency: string;
}

const ASKED = `r.refund_id, r.payment_id, r.amount_micros, r.state, r.booked_as, r.processor_refund, r.is_ours,
  p.app_id, p.user_id, p.checkout_id, p.processor_payment, p.currency`;

/** Refunds under way of a wallet, the newest first. */
export async function selectRefundsUnderWay(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
  most: number,
): Promise<readonly { readonly amount_micros: bigint; readonly created_at: Date }[]> {
  const { rows } = await db.query<{ amount_micros: bigint; created_at: Date }>(
    `select amount_micros, created_at from payments.refunds
     where app_id = $1 and user_id = $2 and state = 'asked' and request_key is not null
     order by created_at desc, refund_id limit $3`,
    [wallet.appId, wallet.userId, most],
  );
  return rows;
}

export async function selectAskedRefunds(db: Queryable, refundIds: readonly string[]): Promise<readonly AskedRefund[]> {
  const { rows } = await db.query<AskedRefund>(
    `select ${ASKED} from payments.refunds r join payments.payments p using (payment_id)
     where r.refund_id = any ($1) and r.state = 'asked' order by r.created_at, r.refund_id`,
    [refundIds],
  );
  return rows;
}

/** How long to wait until the next look, by the age of what is looked at: a quarter of it, and at least a minute. */
const NEXT_LOOK = `clock_timestamp() + greatest(interval '1 minute', (clock_timestamp() - created_at) / 4)`;

/** Takes refunds of a processor that nobody has heard of for a while: each is given to one process. */
export async function claimRefunds(db: Queryable, processor: string, most: number): Promise<readonly AskedRefund[]> {
  const { rows } = await db.query<AskedRefund>(
    `with due as (
       select refund_id from payments.refunds
       where processor = $1 and state = 'asked' and next_look_at <= clock_timestamp()
       order by next_look_at limit $2 for update skip locked
     ), r as (
       update payments.refunds set next_look_at = ${NEXT_LOOK}
       where refund_id in (select refund_id from due) returning *
     )
     select ${ASKED} from r join payments.payments p using (payment_id)`,
    [processor, most],
  );
  return rows;
}

/** A checkout that nothing was heard of. */
export interface UnheardCheckout {
  readonly checkout_id: CheckoutId;
  readonly processor_checkout: string;
  /** It is taken again until `endLooks`. */
  readonly is_old: boolean;
}

/**
 * Takes checkouts of a processor that nothing was heard of: each is given to one process. One that was paid is not
 * taken again, nor one that was never opened and is older than these days.
 */
export async function claimCheckouts(
  db: Queryable,
  processor: string,
  limits: { readonly days: number; readonly most: number },
): Promise<readonly UnheardCheckout[]> {
  const { rows } = await db.query<UnheardCheckout & { is_unheard: boolean }>(
    `with due as (
       select checkout_id, created_at <= clock_timestamp() - $2 * interval '1 day' as is_old from payments.checkouts
       where processor = $1 and next_look_at <= clock_timestamp()
       order by next_look_at limit $3 for update skip locked
     )
     update payments.checkouts c set next_look_at =
       case when p.checkout_id is null and (c.processor_checkout is not null or not is_old) then ${NEXT_LOOK} end
     from due left join lateral (
       select y.checkout_id from payments.payments y where y.checkout_id = due.checkout_id limit 1
     ) p on true
     where c.checkout_id = due.checkout_id
     returning c.checkout_id, c.processor_checkout, is_old,
       c.processor_checkout is not null and p.checkout_id is null as is_unheard`,
    [processor, limits.days, limits.most],
  );
  return rows.filter((row) => row.is_unheard);
}

/** Nobody looks at a checkout any more. */
export async function endLooks(db: Queryable, checkoutId: CheckoutId): Promise<void> {
  await db.query('update payments.checkouts set next_look_at = null where checkout_id = $1', [checkoutId]);
}

export async function deleteOldNotices(db: Queryable, days: number): Promise<void> {
  await db.query(`delete from payments.notices where received_at < clock_timestamp() - $1 * interval '1 day'`, [days]);
}

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
