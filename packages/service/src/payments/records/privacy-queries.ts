import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CheckoutId, EndUserId, IdentityId, PaymentId, RefundId } from '#kernel/values/ids.ts';

interface WalletName {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

interface BegunCheckoutRow {
  readonly checkout_id: CheckoutId;
  readonly app_id: AppId;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly created_at: Date;
  readonly paid_at: Date | null;
}

/** The checkouts that an identity began, the newest first. The wallet may be another person's, so it is not named. */
export async function selectCheckoutsBegunBy(
  db: Queryable,
  identityId: IdentityId,
  most: number,
): Promise<readonly BegunCheckoutRow[]> {
  const { rows } = await db.query<BegunCheckoutRow>(
    `select c.checkout_id, c.app_id, c.amount_micros, c.currency, c.created_at,
       (select min(p.paid_at) from payments.payments p where p.checkout_id = c.checkout_id) as paid_at
     from payments.checkouts c where c.identity_id = $1 order by c.created_at desc, c.checkout_id limit $2`,
    [identityId, most],
  );
  return rows;
}

interface RefundDatesRow {
  readonly refund_id: RefundId;
  readonly payment_id: PaymentId;
  readonly amount_micros: bigint;
  readonly state: string;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** The refunds of these payments, the newest first. */
export async function selectRefundsOf(
  db: Queryable,
  paymentIds: readonly PaymentId[],
  most: number,
): Promise<readonly RefundDatesRow[]> {
  const { rows } = await db.query<RefundDatesRow>(
    `select refund_id, payment_id, amount_micros, state, created_at, ended_at from payments.refunds
     where payment_id = any ($1) order by created_at desc, refund_id limit $2`,
    [paymentIds, most],
  );
  return rows;
}

/** What about a wallet's payments is not over. */
export type OpenMatter = 'checkout' | 'refund' | 'dispute' | 'case';

/** What the processor may still say of this wallet's payments, and what waits for a person. */
export async function selectOpenMatters(
  db: Queryable,
  { appId, userId }: WalletName,
  days: { readonly checkout: number; readonly dispute: number },
): Promise<readonly OpenMatter[]> {
  const { rows } = await db.query<{ matter: OpenMatter }>(
    `select 'checkout' as matter where exists (
       select from payments.checkouts c
       where c.app_id = $1 and c.user_id = $2 and c.created_at > clock_timestamp() - $3 * interval '1 day'
         and c.next_look_at is not null
         and not exists (select from payments.payments p where p.checkout_id = c.checkout_id))
     union all
     select 'refund' where exists (
       select from payments.payments p join payments.refunds r using (payment_id)
       where p.app_id = $1 and p.user_id = $2 and r.state = 'asked')
     union all
     select 'dispute' where exists (
       select from payments.payments p join payments.dispute_movements m using (payment_id)
       where p.app_id = $1 and p.user_id = $2
       group by p.payment_id
       having sum(case when m.is_reinstated then -m.amount_micros else m.amount_micros end) > 0
         and max(m.at) > clock_timestamp() - $4 * interval '1 day')
     union all
     select 'case' where exists (
       select from payments.cases c where c.app_id = $1 and c.user_id = $2 and c.closed_at is null)`,
    [appId, userId, days.checkout, days.dispute],
  );
  return rows.map(({ matter }) => matter);
}

/** Returns true if a checkout that this identity began, for anybody's wallet, can still be paid. */
export async function hasOpenCheckout(db: Queryable, identityId: IdentityId, days: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from payments.checkouts c
     where c.identity_id = $1 and c.created_at > clock_timestamp() - $2 * interval '1 day' and c.next_look_at is not null
       and not exists (select from payments.payments p where p.checkout_id = c.checkout_id)
     limit 1`,
    [identityId, days],
  );
  return rowCount === 1;
}

/**
 * Takes an identity out of the checkouts that it began. It locks them in the order of their ids, as refunds do. Call it before a
 * wallet or connection is locked: bookings lock the checkout first.
 */
export async function forgetPayer(tx: Queryable, identityId: IdentityId): Promise<void> {
  await tx.query(
    `with begun as (
       select checkout_id from payments.checkouts where identity_id = $1 order by checkout_id for no key update
     )
     update payments.checkouts c set identity_id = null from begun where c.checkout_id = begun.checkout_id`,
    [identityId],
  );
}
