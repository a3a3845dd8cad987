import type { Queryable } from '#db/pool/pool.ts';
import type { CheckoutId } from '#kernel/values/ids.ts';
import { NEXT_LOOK } from '#payments/refunds/queries.ts';

/** A checkout for which no payment was reported, or whose payment is to be looked up once more. */
export interface UnheardCheckout {
  readonly checkout_id: CheckoutId;
  readonly processor_checkout: string;
  /**
   * Tells whether the checkout is past the age limit, or paid. It is still claimed again until `endLooks` is called.
   */
  readonly is_last: boolean;
}

/**
 * Claims checkouts that are due for a look. Each goes to one process. A paid checkout is not claimed again. Neither is one that the
 * processor never opened, once it is older than `days`.
 */
export async function claimCheckouts(
  db: Queryable,
  processor: string,
  limits: { readonly days: number; readonly most: number },
): Promise<readonly UnheardCheckout[]> {
  const { rows } = await db.query<UnheardCheckout & { is_wanted: boolean }>(
    `with due as (
       select checkout_id, created_at <= clock_timestamp() - $2 * interval '1 day' as is_old from payments.checkouts
       where processor = $1 and not look_again and next_look_at <= clock_timestamp()
       order by next_look_at limit $3 for update skip locked
     )
     update payments.checkouts c set next_look_at =
       case when p.checkout_id is null and (c.processor_checkout is not null or not is_old) then ${NEXT_LOOK} end
     from due left join lateral (
       select y.checkout_id from payments.payments y where y.checkout_id = due.checkout_id limit 1
     ) p on true
     where c.checkout_id = due.checkout_id
     returning c.checkout_id, c.processor_checkout, is_old as is_last,
       c.processor_checkout is not null and p.checkout_id is null as is_wanted`,
    [processor, limits.days, limits.most],
  );
  return rows.filter((row) => row.is_wanted);
}

/**
 * Claims paid checkouts whose wallet has moved here (`look_again`), and that are due. They are not in line with the others: a slot brings very
 * many. Each goes to one process, and is due again after an hour, however old it is, unless `endLooks` is called.
 */
export async function claimMoved(db: Queryable, processor: string, most: number): Promise<readonly UnheardCheckout[]> {
  const { rows } = await db.query<UnheardCheckout>(
    `with due as (
       select checkout_id from payments.checkouts
       where processor = $1 and look_again and next_look_at <= clock_timestamp()
       order by next_look_at limit $2 for update skip locked
     )
     update payments.checkouts c set next_look_at = clock_timestamp() + interval '1 hour'
     from due where c.checkout_id = due.checkout_id
     returning c.checkout_id, c.processor_checkout, true as is_last`,
    [processor, most],
  );
  return rows;
}

/** Ends the looks at a checkout. A webhook can still credit its payment. */
export async function endLooks(db: Queryable, checkoutId: CheckoutId): Promise<void> {
  await db.query('update payments.checkouts set next_look_at = null, look_again = false where checkout_id = $1', [
    checkoutId,
  ]);
}

/** Forgets webhooks that no processor would send again. */
export async function deleteOldWebhooks(db: Queryable, days: number): Promise<void> {
  await db.query(
    `delete from payments.processor_webhooks where received_at < clock_timestamp() - $1 * interval '1 day'`,
    [days],
  );
}
