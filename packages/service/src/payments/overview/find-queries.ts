import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CheckoutId, EndUserId, PaymentId } from '#kernel/values/ids.ts';

/** A checkout, payment, refund, dispute or case, with the wallet and the payment that it belongs to. */
interface FoundRow {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly checkout_id: CheckoutId | null;
  /** The payment. It is null for a checkout that nobody has paid. */
  readonly payment_id: PaymentId | null;
  readonly amount_micros: bigint;
  /** The state. It is null for a checkout. */
  readonly state: string | null;
  readonly at: Date;
}

export async function selectAnyPayment(db: Queryable, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query<FoundRow>(
    `select app_id, user_id, checkout_id, payment_id, amount_micros, state, paid_at as at
     from payments.payments where payment_id = $1`,
    [id],
  );
  return rows[0];
}

export async function selectAnyRefund(db: Queryable, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query<FoundRow>(
    `select app_id, user_id, null as checkout_id, payment_id, amount_micros, state, created_at as at
     from payments.refunds where refund_id = $1`,
    [id],
  );
  return rows[0];
}

export async function selectAnyCheckout(db: Queryable, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query<FoundRow>(
    `select c.app_id, c.user_id, c.checkout_id, (
       select p.payment_id from payments.payments p where p.checkout_id = c.checkout_id order by p.paid_at limit 1
     ) as payment_id, c.amount_micros, null as state, c.created_at as at
     from payments.checkouts c where c.checkout_id = $1`,
    [id],
  );
  return rows[0];
}

export async function selectAnyDispute(db: Queryable, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query<FoundRow>(
    `select p.app_id, p.user_id, p.checkout_id, p.payment_id, m.amount_micros,
       case when m.is_reinstated then 'returned' else 'taken' end as state, m.at
     from payments.dispute_movements m join payments.payments p using (payment_id) where m.movement_id = $1`,
    [id],
  );
  return rows[0];
}

/** A case of a payment, with the amount of the payment. */
export async function selectAnyCase(db: Queryable, id: string): Promise<FoundRow | undefined> {
  const { rows } = await db.query<FoundRow>(
    `select c.app_id, c.user_id, p.checkout_id, c.payment_id, p.amount_micros,
       case when c.closed_at is null then 'open' else 'closed: ' || c.closed_as end as state, c.opened_at as at
     from payments.cases c join payments.payments p using (payment_id) where c.case_id = $1`,
    [id],
  );
  return rows[0];
}

/** The payment, refund, dispute or checkout that a processor knows by this id. A service has had one or two processors. */
export async function selectByProcessorId(db: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `select payment_id as id from payments.payments where processor = any ($2) and processor_payment = $1
     union all select refund_id from payments.refunds where processor = any ($2) and processor_refund = $1
     union all select movement_id from payments.dispute_movements where processor = any ($2) and processor_movement = $1
     union all select checkout_id from payments.checkouts where processor = any ($2) and processor_checkout = $1
     limit 1`,
    [id, ['stripe', 'test']],
  );
  return rows[0]?.id;
}
