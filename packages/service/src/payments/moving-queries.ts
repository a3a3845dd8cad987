import type { MovedTable } from '#db/moved-rows.ts';

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
