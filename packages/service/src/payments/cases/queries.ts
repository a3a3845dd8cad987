import type { Queryable } from '#db/pool/pool.ts';
import {
  type AppId,
  type CaseId,
  type CheckoutId,
  type EndUserId,
  newCaseId,
  type PaymentId,
  type RefundId,
} from '#kernel/values/ids.ts';
import type { PaymentAnomaly } from '#payments/records/queries.ts';

/** Why something about a payment waits for a person. `web/ops/payments/texts.ts` has a sentence for each. */
export type CaseKind =
  | 'kept'
  | 'refund_unknown'
  | 'refund_not_released'
  | 'refund_not_returned'
  | 'refund_not_taken'
  | 'dispute_not_booked'
  | 'other_currency'
  | 'wallet_suspended';

interface NewCase {
  readonly kind: CaseKind;
  readonly payment: { readonly payment_id: PaymentId; readonly app_id: AppId; readonly user_id: EndUserId };
  /** The payment, refund or movement of a dispute that it is about. */
  readonly subject: string;
}

/** Opens a case, unless it is open. With `isOnce`, one that was ever closed stays closed: every look-up finds the same fact again. */
export async function openCase(
  tx: Queryable,
  { kind, payment, subject }: NewCase,
  { isOnce = false }: { readonly isOnce?: boolean } = {},
): Promise<void> {
  await tx.query(
    `insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject)
     select $1, $2, $3, $4, $5, $6
     where not $7::boolean or not exists (
       select from payments.cases c where c.payment_id = $2 and c.kind = $5 and c.subject = $6
     )
     on conflict (subject, kind) where closed_at is null do nothing`,
    [newCaseId(), payment.payment_id, payment.app_id, payment.user_id, kind, subject, isOnce],
  );
}

/** Closes a case by its id. The caller has locked the checkouts of its wallet. */
export async function closeCase(tx: Queryable, caseId: CaseId, as: string): Promise<void> {
  await tx.query(
    `update payments.cases set closed_at = clock_timestamp(), closed_as = $2 where case_id = $1 and closed_at is null`,
    [caseId, as],
  );
}

/** Closes the open case of a kept payment of which nothing is left. */
export async function closeSpentCase(tx: Queryable, paymentId: PaymentId): Promise<void> {
  await tx.query(
    `update payments.cases c set closed_at = clock_timestamp(), closed_as = 'settled'
     from payments.payments p
     where c.subject = $1 and c.kind = 'kept' and c.closed_at is null and p.payment_id = $1
       and p.amount_micros <= (
         select coalesce(sum(r.amount_micros), 0) from payments.refunds r
         where r.payment_id = p.payment_id and r.state <> 'declined'
       ) + (
         select greatest(0, coalesce(sum(case when m.is_reinstated then -m.amount_micros else m.amount_micros end), 0))
         from payments.dispute_movements m where m.payment_id = p.payment_id
       )`,
    [paymentId],
  );
}

/** Closes the cases about a suspension that has just been lifted. */
export async function closeSuspensions(
  tx: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId },
): Promise<void> {
  await tx.query(
    `update payments.cases set closed_at = clock_timestamp(), closed_as = 'settled'
     where app_id = $1 and user_id = $2 and kind = 'wallet_suspended' and closed_at is null`,
    [wallet.appId, wallet.userId],
  );
}

/** A case with its payment, and the refund or movement that it is about. */
export interface CaseRow {
  readonly case_id: CaseId;
  readonly kind: CaseKind;
  readonly subject: string;
  readonly opened_at: Date;
  readonly closed_at: Date | null;
  readonly closed_as: string | null;
  readonly payment_id: PaymentId;
  readonly checkout_id: CheckoutId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly processor: string;
  readonly currency: string;
  readonly payment_state: 'credited' | 'kept';
  readonly anomaly: PaymentAnomaly | null;
  readonly payment_micros: bigint;
  /** What of the payment is paid back or about to be. The next field is what a bank has taken of it. */
  readonly refunded_micros: bigint;
  readonly disputed_micros: bigint;
  readonly refund_id: RefundId | null;
  readonly refund_micros: bigint | null;
  readonly refund_state: 'asked' | 'paid' | 'declined' | null;
  readonly refund_booked_as: 'set_aside' | 'taken' | null;
  readonly processor_refund: string | null;
  readonly movement_micros: bigint | null;
  readonly is_reinstated: boolean | null;
  readonly processor_movement: string | null;
}

/** Reads one case, or all cases of payments: the newest first. */
export async function selectCases(
  db: Queryable,
  of: { readonly caseId: CaseId } | { readonly paymentIds: readonly PaymentId[] },
): Promise<readonly CaseRow[]> {
  const [condition, value] =
    'caseId' in of ? ['c.case_id = $1', of.caseId] : ['c.payment_id = any ($1)', of.paymentIds];
  const { rows } = await db.query<CaseRow>(
    `select c.case_id, c.kind, c.subject, c.opened_at, c.closed_at, c.closed_as, p.payment_id, p.checkout_id, p.app_id,
       p.user_id, p.processor, p.currency, p.state as payment_state, p.anomaly, p.amount_micros as payment_micros,
       s.refunded::bigint as refunded_micros, d.disputed::bigint as disputed_micros,
       r.refund_id, r.amount_micros as refund_micros, r.state as refund_state, r.booked_as as refund_booked_as, r.processor_refund,
       m.amount_micros as movement_micros, m.is_reinstated, m.processor_movement
     from payments.cases c
     join payments.payments p using (payment_id)
     left join payments.refunds r on r.refund_id = c.subject
     left join payments.dispute_movements m on m.movement_id = c.subject
     cross join lateral (
       select coalesce(sum(f.amount_micros), 0) as refunded from payments.refunds f
       where f.payment_id = p.payment_id and f.state <> 'declined'
     ) s
     cross join lateral (
       select greatest(0, coalesce(sum(case when v.is_reinstated then -v.amount_micros else v.amount_micros end), 0)) as disputed
       from payments.dispute_movements v where v.payment_id = p.payment_id
     ) d
     where ${condition} order by c.opened_at desc, c.case_id`,
    [value],
  );
  return rows;
}

/** A kept payment is in a wallet from now on. */
export async function creditKept(tx: Queryable, paymentId: PaymentId): Promise<void> {
  await tx.query(`update payments.payments set state = 'credited' where payment_id = $1`, [paymentId]);
}

/** The wallet has followed this movement of a dispute. */
export async function bookedMovement(tx: Queryable, movementId: string): Promise<void> {
  await tx.query(`update payments.dispute_movements set is_booked = true where movement_id = $1`, [movementId]);
}
