import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CheckoutId, EndUserId, PaymentId } from '#kernel/values/ids.ts';
import type { PaymentAnomaly, PaymentRow, RefundRow } from '#payments/records/queries.ts';

export interface PaymentSums extends PaymentRow {
  readonly anomaly: PaymentAnomaly | null;
  readonly paid_at: Date;
  readonly refunded_micros: bigint;
  readonly disputed_micros: bigint;
}

/** The payments into a wallet, or one of them, with the sums that went back. The newest first. */
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

/** A refund that we have asked the processor for, or are about to, with its wallet and payment. */
export interface AskedRefund extends RefundRow {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly checkout_id: CheckoutId;
  readonly processor_payment: string;
  readonly currency: string;
  readonly payment_state: 'credited' | 'kept';
}

const ASKED = `r.refund_id, r.payment_id, r.amount_micros, r.state, r.booked_as, r.processor_refund, r.is_ours,
  p.app_id, p.user_id, p.checkout_id, p.processor_payment, p.currency, p.state as payment_state`;

/**
 * A wallet's refunds that are under way, the newest first. Only our own have a request key: a refund that was made at the
 * processor is booked when we first hear of it, so it is never under way here.
 */
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

/** The refunds among these that are still undecided, in the order in which they were made. */
export async function selectAskedRefunds(db: Queryable, refundIds: readonly string[]): Promise<readonly AskedRefund[]> {
  const { rows } = await db.query<AskedRefund>(
    `select ${ASKED} from payments.refunds r join payments.payments p using (payment_id)
     where r.refund_id = any ($1) and r.state = 'asked' order by r.created_at, r.refund_id`,
    [refundIds],
  );
  return rows;
}

/**
 * When to look again: after a quarter of the age, and at least a minute. A young checkout is watched closely. An old one
 * costs few look-ups, and waits at most a quarter longer than it has waited so far.
 */
export const NEXT_LOOK = `clock_timestamp() + greatest(interval '1 minute', (clock_timestamp() - created_at) / 4)`;

/** Claims undecided refunds that are due for a look. Each goes to one process: `skip locked` keeps the others off. */
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
