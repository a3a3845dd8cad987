import type { MovedTable, MovedUsers } from '#db/records/moved-rows.ts';
import type { Queryable } from '#db/pool/pool.ts';

const ITS_USER = '(t.app_id, t.user_id) in (select * from unnest($1::text[], $2::text[]))';
const CHECKOUTS = `select c.checkout_id from payments.checkouts c where ${ITS_USER.replaceAll('t.', 'c.')}`;
const PAYMENTS = `select p.payment_id from payments.payments p where ${ITS_USER.replaceAll('t.', 'p.')}`;
const TEST_CHECKOUTS = `select k.test_checkout from payments.test_checkouts k where k.checkout_id in (${CHECKOUTS})`;
const TEST_PAYMENTS = `select q.test_payment from payments.test_payments q where q.test_checkout in (${TEST_CHECKOUTS})`;

/** What moves with the wallets of users, in an order in which rows can be added. The last five are the test processor's own. */
export const MOVED_PAYMENTS: readonly MovedTable[] = [
  { name: 'payments.checkouts', of: ITS_USER },
  { name: 'payments.payments', of: ITS_USER },
  { name: 'payments.refunds', of: ITS_USER },
  { name: 'payments.cases', of: ITS_USER },
  { name: 'payments.dispute_movements', of: `t.payment_id in (${PAYMENTS})` },
  { name: 'payments.test_checkouts', of: `t.checkout_id in (${CHECKOUTS})` },
  { name: 'payments.test_payments', of: `t.test_checkout in (${TEST_CHECKOUTS})` },
  { name: 'payments.test_refunds', of: `t.test_payment in (${TEST_PAYMENTS})` },
  { name: 'payments.test_movements', of: `t.test_payment in (${TEST_PAYMENTS})` },
  { name: 'payments.test_events', of: `t.test_payment in (${TEST_PAYMENTS})` },
];

/** Banks take back what is older only in rare cases, which the processor's report shows (reconciliation). */
const PAID_DAYS = 180;

/**
 * Has the payments of these users looked up soon. While they moved, the processor may have told something to the cell that did not have them
 * any more, or not yet.
 */
export async function noteLookAgain(tx: Queryable, { apps, users }: MovedUsers): Promise<void> {
  await tx.query(
    `update payments.checkouts t set look_again = true, next_look_at = clock_timestamp() + interval '1 minute'
     where ${ITS_USER} and t.processor_checkout is not null and exists (
       select from payments.payments p
       where p.checkout_id = t.checkout_id and p.paid_at > clock_timestamp() - $3 * interval '1 day'
     )`,
    [apps, users, PAID_DAYS],
  );
}
