import type { Queryable } from '#db/pool/pool.ts';
import type { CheckoutId, RefundId } from '#kernel/values/ids.ts';
import type { CheckoutOrder } from '#payments/processor/processor.ts';
import type { TestCardName } from '#payments/test-processor/cards.ts';

export interface TestCheckoutRow {
  readonly test_checkout: string;
  readonly checkout_id: CheckoutId;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly app_name: string;
  readonly return_url: string;
  readonly cancel_url: string;
  readonly confirming: TestCardName | null;
  /** The payment. It is null until somebody has paid. */
  readonly test_payment: string | null;
  readonly card: TestCardName | null;
}

/**
 * Opens a checkout and returns its name. A repeat of an order returns the name of the first. The update that changes
 * nothing makes `returning` work for it.
 */
export async function insertTestCheckout(db: Queryable, name: string, order: CheckoutOrder): Promise<string> {
  const { rows } = await db.query<{ test_checkout: string }>(
    `insert into payments.test_checkouts
       (test_checkout, checkout_id, amount_micros, currency, app_name, return_url, cancel_url)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (checkout_id) do update set checkout_id = excluded.checkout_id
     returning test_checkout`,
    [name, order.checkoutId, order.amount, order.currency, order.appName, order.returnUrl, order.cancelUrl],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('A test checkout was not made.');
  return row.test_checkout;
}

const CHECKOUT = `select c.*, p.test_payment, p.card
  from payments.test_checkouts c left join payments.test_payments p on p.test_checkout = c.test_checkout`;

export async function selectTestCheckout(db: Queryable, testCheckout: string): Promise<TestCheckoutRow | undefined> {
  const { rows } = await db.query<TestCheckoutRow>(`${CHECKOUT} where c.test_checkout = $1`, [testCheckout]);
  return rows[0];
}

export async function selectPaidTestCheckout(db: Queryable, testPayment: string): Promise<TestCheckoutRow | undefined> {
  const { rows } = await db.query<TestCheckoutRow>(`${CHECKOUT} where p.test_payment = $1`, [testPayment]);
  return rows[0];
}

/** Stores the card whose second step is pending; undefined if none is pending any more. */
export async function updateConfirming(
  db: Queryable,
  testCheckout: string,
  card: TestCardName | undefined,
): Promise<void> {
  await db.query('update payments.test_checkouts set confirming = $2 where test_checkout = $1', [
    testCheckout,
    card ?? null,
  ]);
}

/** Returns false if the checkout was already paid. */
export async function insertTestPayment(
  tx: Queryable,
  payment: { readonly testPayment: string; readonly testCheckout: string; readonly card: TestCardName },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into payments.test_payments (test_payment, test_checkout, card) values ($1, $2, $3)
     on conflict (test_checkout) do nothing`,
    [payment.testPayment, payment.testCheckout, payment.card],
  );
  return rowCount === 1;
}

interface NewTestEvent {
  readonly testEvent: string;
  readonly testPayment: string;
  readonly type: string;
  readonly delayMs: number;
}

/** Schedules an event. `happens_at` fixes the order of a payment's events; `due_at` moves with every attempt. */
export async function insertTestEvent(db: Queryable, event: NewTestEvent): Promise<void> {
  await db.query(
    `insert into payments.test_events (test_event, test_payment, type, happens_at, due_at)
     select $1, $2, $3, at, at from (values (clock_timestamp() + $4 * interval '1 ms')) as given (at)`,
    [event.testEvent, event.testPayment, event.type, event.delayMs],
  );
}

export interface TestEventRow {
  readonly test_event: string;
  readonly test_payment: string;
  readonly type: string;
}

/**
 * Claims due events for this process and makes them due again after `retryMs`, in case it dies or fails. An event waits
 * until all earlier events of its payment are gone, so that they happen in order.
 */
export async function claimTestEvents(db: Queryable, most: number, retryMs: number): Promise<readonly TestEventRow[]> {
  const { rows } = await db.query<TestEventRow>(
    `update payments.test_events set attempts = attempts + 1, due_at = clock_timestamp() + $2 * interval '1 ms'
     where test_event in (
       select e.test_event from payments.test_events e where e.due_at <= clock_timestamp()
         and not exists (select from payments.test_events o
           where o.test_payment = e.test_payment and o.happens_at < e.happens_at)
       order by e.due_at limit $1 for update skip locked
     )
     returning test_event, test_payment, type`,
    [most, retryMs],
  );
  return rows;
}

/** Deletes an event that was attempted at least `attemptsMin` times: 0 after success, the limit after a failure. */
export async function deleteTestEvent(db: Queryable, testEvent: string, attemptsMin: number): Promise<void> {
  await db.query('delete from payments.test_events where test_event = $1 and attempts >= $2', [testEvent, attemptsMin]);
}

interface NewTestRefund {
  readonly testRefund: string;
  readonly testPayment: string;
  readonly refundId: RefundId;
  readonly amount: bigint;
}

/**
 * Begins a refund that we asked for. Returns false if less than that is left of the payment, or if the refund has already
 * begun. The payment's row is locked, so that two refunds see each other.
 */
export async function insertTestRefund(tx: Queryable, refund: NewTestRefund): Promise<boolean> {
  const { testRefund, testPayment, refundId, amount } = refund;
  const left = await lockLeft(tx, testPayment);
  if (amount > left) return false;
  const { rowCount } = await tx.query(
    `insert into payments.test_refunds (test_refund, test_payment, refund_id, amount_micros, state)
     values ($1, $2, $3, $4, 'under_way') on conflict (refund_id) do nothing`,
    [testRefund, testPayment, refundId, amount],
  );
  return rowCount === 1;
}

/** Locks a payment and returns what is left of it after refunds and chargebacks. */
async function lockLeft(tx: Queryable, testPayment: string): Promise<bigint> {
  await tx.query('select 1 from payments.test_payments where test_payment = $1 for update', [testPayment]);
  const { rows } = await tx.query<{ left_micros: bigint }>(
    `select (c.amount_micros
       - coalesce((select sum(r.amount_micros) from payments.test_refunds r
           where r.test_payment = p.test_payment and r.state <> 'declined'), 0)
       - coalesce((select sum(case when m.is_reinstated then -m.amount_micros else m.amount_micros end)
           from payments.test_movements m where m.test_payment = p.test_payment), 0))::bigint as left_micros
     from payments.test_payments p join payments.test_checkouts c on c.test_checkout = p.test_checkout
     where p.test_payment = $1`,
    [testPayment],
  );
  return rows[0]?.left_micros ?? 0n;
}

/** The bank refunds what is left of a payment. The event's name is the refund's, so the same event twice is one refund. */
export async function refundWhatIsLeft(tx: Queryable, testEvent: string, testPayment: string): Promise<void> {
  const left = await lockLeft(tx, testPayment);
  if (left <= 0n) return;
  await tx.query(
    `insert into payments.test_refunds (test_refund, test_payment, amount_micros, state) values ($1, $2, $3, 'paid')
     on conflict (test_refund) do nothing`,
    [testEvent, testPayment, left],
  );
}

/** The bank takes what is left of a payment from us. The same event twice takes it once. */
export async function chargeBackWhatIsLeft(tx: Queryable, testEvent: string, testPayment: string): Promise<void> {
  const left = await lockLeft(tx, testPayment);
  if (left <= 0n) return;
  await tx.query(
    `insert into payments.test_movements (test_movement, test_payment, amount_micros, is_reinstated)
     values ($1, $2, $3, false) on conflict (test_movement) do nothing`,
    [testEvent, testPayment, left],
  );
}

/** The bank returns what it took. The same event twice returns it once. */
export async function reinstateChargebacks(tx: Queryable, testEvent: string, testPayment: string): Promise<void> {
  await tx.query(
    `insert into payments.test_movements (test_movement, test_payment, amount_micros, is_reinstated)
     select $1, $2, sum(m.amount_micros), true from payments.test_movements m
     where m.test_payment = $2 and not m.is_reinstated having sum(m.amount_micros) > 0
     on conflict (test_movement) do nothing`,
    [testEvent, testPayment],
  );
}

/** Marks the refunds under way as paid. */
export async function payTestRefunds(db: Queryable, testPayment: string): Promise<void> {
  await db.query(`update payments.test_refunds set state = 'paid' where test_payment = $1 and state = 'under_way'`, [
    testPayment,
  ]);
}

interface TestRefundRow {
  readonly test_refund: string;
  readonly refund_id: RefundId | null;
  readonly amount_micros: bigint;
  readonly state: 'under_way' | 'paid' | 'declined';
}

export async function selectTestRefunds(db: Queryable, testPayment: string): Promise<readonly TestRefundRow[]> {
  const { rows } = await db.query<TestRefundRow>(
    `select test_refund, refund_id, amount_micros, state from payments.test_refunds where test_payment = $1
     order by test_refund`,
    [testPayment],
  );
  return rows;
}

interface TestMovementRow {
  readonly test_movement: string;
  readonly amount_micros: bigint;
  readonly is_reinstated: boolean;
}

export async function selectTestMovements(db: Queryable, testPayment: string): Promise<readonly TestMovementRow[]> {
  const { rows } = await db.query<TestMovementRow>(
    `select test_movement, amount_micros, is_reinstated from payments.test_movements where test_payment = $1
     order by test_movement`,
    [testPayment],
  );
  return rows;
}
