import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CheckoutId, EndUserId, IdentityId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

export interface CheckoutRow {
  readonly checkout_id: CheckoutId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  /** Who began it. Null for one that nobody began by themselves. */
  readonly identity_id: IdentityId | null;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly processor_checkout: string | null;
  readonly created_at: Date;
}

const CHECKOUT = 'checkout_id, app_id, user_id, identity_id, amount_micros, currency, processor_checkout, created_at';

interface NewCheckoutRow {
  readonly checkoutId: CheckoutId;
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly identityId: IdentityId | undefined;
  readonly amount: Micros;
  readonly currency: string;
  readonly processor: string;
  readonly linkDigest: Buffer | undefined;
}

/** Stores a checkout before the processor is asked to open it. */
export async function insertCheckout(db: Queryable, checkout: NewCheckoutRow): Promise<void> {
  const { checkoutId, appId, userId, identityId, amount, currency, processor, linkDigest } = checkout;
  await db.query(
    `insert into payments.checkouts (checkout_id, app_id, user_id, identity_id, amount_micros, currency, processor,
       link_digest)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [checkoutId, appId, userId, identityId ?? null, amount, currency, processor, linkDigest ?? null],
  );
}

/** Stores the processor's id of a checkout, with which the sweep can look it up. */
export async function setProcessorCheckout(
  db: Queryable,
  checkoutId: CheckoutId,
  processorCheckout: string,
): Promise<void> {
  await db.query(`update payments.checkouts set processor_checkout = $2 where checkout_id = $1`, [
    checkoutId,
    processorCheckout,
  ]);
}

/** A checkout with the state of its payment; null until there is one. `credited` wins over `kept` if it was paid twice. */
export async function selectCheckout(
  db: Queryable,
  checkoutId: CheckoutId,
): Promise<(CheckoutRow & { readonly state: 'credited' | 'kept' | null }) | undefined> {
  const { rows } = await db.query<CheckoutRow & { state: 'credited' | 'kept' | null }>(
    `select ${CHECKOUT}, (
       select p.state from payments.payments p where p.checkout_id = c.checkout_id order by p.state, p.paid_at limit 1
     ) as state
     from payments.checkouts c where c.checkout_id = $1`,
    [checkoutId],
  );
  return rows[0];
}

/**
 * Locks a checkout. All bookings of its payment take this lock first and the wallet's second, so two reports of the same
 * payment are booked one after the other and cannot deadlock.
 */
export async function lockCheckout(
  tx: Queryable,
  processor: string,
  checkoutId: CheckoutId,
): Promise<CheckoutRow | undefined> {
  const { rows } = await tx.query<CheckoutRow>(
    `select ${CHECKOUT} from payments.checkouts where checkout_id = $1 and processor = $2 for no key update`,
    [checkoutId, processor],
  );
  return rows[0];
}

/** Locks the paid checkouts of a wallet, always in the order of their ids, so that two refunds cannot deadlock. */
export async function lockPaidCheckouts(
  tx: Queryable,
  wallet: { readonly appId: string; readonly userId: string },
): Promise<void> {
  await tx.query(
    `select from payments.checkouts c
     where c.app_id = $1 and c.user_id = $2
       and exists (select from payments.payments p where p.checkout_id = c.checkout_id)
     order by c.checkout_id for no key update`,
    [wallet.appId, wallet.userId],
  );
}

/** Whether a payment was made through this link (BI-04). */
export async function isLinkSpent(db: Queryable, linkDigest: Buffer): Promise<boolean> {
  const { rows } = await db.query<{ is_spent: boolean }>(
    `select exists (
       select from payments.checkouts c join payments.payments p on p.checkout_id = c.checkout_id
       where c.link_digest = $1
     ) as is_spent`,
    [linkDigest],
  );
  return rows[0]?.is_spent ?? false;
}

/** Why a payment needs an operator, or was other than expected. `reconcile.ts` has a sentence for each. */
export type PaymentAnomaly = 'amount' | 'currency' | 'second' | 'no_wallet' | 'too_much' | 'owner_deleted';

export interface PaymentRow {
  readonly payment_id: PaymentId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly processor_payment: string;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly state: 'credited' | 'kept';
}

const PAYMENT = 'payment_id, app_id, user_id, processor_payment, amount_micros, currency, state';

/** The payments of a checkout, the oldest first. More than one if it was paid twice. */
export async function selectPaymentsOfCheckout(db: Queryable, checkoutId: CheckoutId): Promise<readonly PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(
    `select ${PAYMENT} from payments.payments where checkout_id = $1 order by paid_at`,
    [checkoutId],
  );
  return rows;
}

/** Stores a payment. Its key (processor, processor's id) makes a second row of the same payment impossible. */
export async function insertPayment(
  tx: Queryable,
  payment: PaymentRow & {
    readonly checkout_id: CheckoutId;
    readonly processor: string;
    readonly anomaly: PaymentAnomaly | undefined;
  },
): Promise<void> {
  await tx.query(
    `insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment,
       amount_micros, currency, state, anomaly)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      payment.payment_id,
      payment.checkout_id,
      payment.app_id,
      payment.user_id,
      payment.processor,
      payment.processor_payment,
      payment.amount_micros,
      payment.currency,
      payment.state,
      payment.anomaly ?? null,
    ],
  );
}

/**
 * A refund. `asked`: the processor was asked or will be. `booked_as` says where its money comes from: `set_aside` in
 * advance, `taken` from the wallet when it was paid, or null if the payment is in no wallet or the take failed.
 */
export interface RefundRow {
  readonly refund_id: RefundId;
  readonly payment_id: PaymentId;
  readonly amount_micros: bigint;
  readonly state: 'asked' | 'paid' | 'declined';
  readonly booked_as: 'set_aside' | 'taken' | null;
  readonly processor_refund: string | null;
  readonly is_ours: boolean;
}

const REFUND = 'refund_id, payment_id, amount_micros, state, booked_as, processor_refund, is_ours';

/** All refunds of a payment that we know, ours and others. */
export async function selectRefundsOfPayment(db: Queryable, paymentId: PaymentId): Promise<readonly RefundRow[]> {
  const { rows } = await db.query<RefundRow>(
    `select ${REFUND} from payments.refunds where payment_id = $1 order by created_at, refund_id`,
    [paymentId],
  );
  return rows;
}

interface NewRefundRow extends RefundRow {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly processor: string;
  /** The key of the request. It is null for a refund that was made at the processor. */
  readonly request_key: string | null;
}

export async function insertRefund(tx: Queryable, refund: NewRefundRow): Promise<void> {
  await tx.query(
    `insert into payments.refunds (refund_id, payment_id, amount_micros, state, booked_as, processor, processor_refund,
       is_ours, app_id, user_id, request_key, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, case when $4 <> 'asked' then clock_timestamp() end)`,
    [
      refund.refund_id,
      refund.payment_id,
      refund.amount_micros,
      refund.state,
      refund.booked_as,
      refund.processor,
      refund.processor_refund,
      refund.is_ours,
      refund.app_id,
      refund.user_id,
      refund.request_key,
    ],
  );
}

/** Stores a refund's new state. The first time it leaves `asked` is kept as its end, and closes the cases about being asked. */
export async function updateRefund(
  tx: Queryable,
  refund: Pick<RefundRow, 'refund_id' | 'state' | 'booked_as' | 'processor_refund'>,
): Promise<void> {
  await tx.query(
    `with ended as (
       update payments.cases set closed_at = clock_timestamp(), closed_as = 'settled'
       where subject = $1 and kind in ('refund_unknown', 'refund_not_released') and closed_at is null and $2 <> 'asked'
     )
     update payments.refunds set state = $2, booked_as = $3, processor_refund = $4,
       ended_at = case when $2 = 'asked' then null else coalesce(ended_at, clock_timestamp()) end
     where refund_id = $1`,
    [refund.refund_id, refund.state, refund.booked_as, refund.processor_refund],
  );
}

/**
 * The refunds that were requested under a key, as one request. Undefined if the key is new. A request counts as declined
 * only if the processor never accepted any part of it.
 */
export async function selectRequest(
  db: Queryable,
  request: { readonly appId: AppId; readonly userId: EndUserId; readonly key: string },
): Promise<
  { readonly amount: bigint; readonly payments: readonly PaymentId[]; readonly isDeclined: boolean } | undefined
> {
  const { rows } = await db.query<{ amount: bigint; payments: PaymentId[]; is_declined: boolean }>(
    `select sum(amount_micros)::bigint as amount, array_agg(payment_id) as payments,
       bool_and(state = 'declined' and processor_refund is null) as is_declined
     from payments.refunds
     where app_id = $1 and user_id = $2 and request_key = $3 having count(*) > 0`,
    [request.appId, request.userId, request.key],
  );
  const [row] = rows;
  return row === undefined ? undefined : { amount: row.amount, payments: row.payments, isDeclined: row.is_declined };
}

/** Stores a movement of a dispute, and returns our id of it. `isBooked` says whether the wallet followed it. */
export async function insertDisputeMovement(
  tx: Queryable,
  movement: {
    readonly processor: string;
    readonly processorMovement: string;
    readonly paymentId: PaymentId;
    readonly amount: Micros;
    readonly isReinstated: boolean;
    readonly isBooked: boolean;
  },
): Promise<string> {
  const { rows } = await tx.query<{ movement_id: string }>(
    `insert into payments.dispute_movements (processor, processor_movement, payment_id, amount_micros, is_reinstated,
       is_booked)
     values ($1, $2, $3, $4, $5, $6) returning movement_id`,
    [
      movement.processor,
      movement.processorMovement,
      movement.paymentId,
      movement.amount,
      movement.isReinstated,
      movement.isBooked,
    ],
  );
  return rows[0]?.movement_id ?? '';
}

/** The processor's ids of the dispute movements that we know of a payment. */
export async function selectMovementsOfPayment(db: Queryable, paymentId: PaymentId): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ processor_movement: string }>(
    `select processor_movement from payments.dispute_movements where payment_id = $1`,
    [paymentId],
  );
  return new Set(rows.map((row) => row.processor_movement));
}

/** Records that a webhook was acted on. A repeat changes nothing: it has already led to a new look-up, which is enough. */
export async function insertWebhook(
  tx: Queryable,
  webhook: { readonly processor: string; readonly eventId: string; readonly type: string },
): Promise<void> {
  await tx.query(
    `insert into payments.processor_webhooks (processor, webhook_id, type) values ($1, $2, $3) on conflict do nothing`,
    [webhook.processor, webhook.eventId, webhook.type],
  );
}
