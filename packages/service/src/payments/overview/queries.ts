import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CheckoutId, EndUserId, PaymentId } from '#kernel/values/ids.ts';
import type { PaymentAnomaly } from '#payments/records/queries.ts';

export const PAYMENT_KINDS = ['checkout', 'payment', 'refund', 'dispute'] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];
export const PAYMENT_STATES = [
  'open',
  'paid',
  'unpaid',
  'credited',
  'kept',
  'asked',
  'declined',
  'taken',
  'returned',
] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** Narrows the list of everything about payments. A field that is undefined restricts nothing. */
export interface PaymentFilter {
  readonly kind: PaymentKind | undefined;
  readonly state: PaymentState | undefined;
  readonly appId: AppId | undefined;
  readonly userId: EndUserId | undefined;
  readonly fromMs: number | undefined;
  readonly untilMs: number | undefined;
  /** Tells whether only what has an open case is listed. */
  readonly waits: boolean;
}

export interface PaymentLine {
  readonly kind: PaymentKind;
  readonly id: string;
  readonly checkout_id: CheckoutId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly state: PaymentState;
  readonly anomaly: PaymentAnomaly | null;
  readonly waits: boolean;
  readonly at: Date;
  /** Microseconds since 1970: the place in the list, with the id. */
  readonly at_us: bigint;
  /** The cell that has it. Undefined if there are no cells. */
  readonly cell?: string;
}

/** A place in the list. */
export interface PaymentPlace {
  readonly us: bigint;
  readonly id: string;
}

export interface PaymentPage {
  readonly after: PaymentPlace | undefined;
  readonly most: number;
}

interface Branch {
  readonly from: string;
  readonly id: string;
  readonly checkout: string;
  readonly wallet: string;
  readonly amount: string;
  readonly currency: string;
  readonly anomaly: string;
  readonly at: string;
  readonly states: readonly PaymentState[];
  readonly state: string;
  readonly waits: string;
}

const BRANCHES: Readonly<Record<PaymentKind, Branch>> = {
  checkout: {
    from: 'payments.checkouts t',
    id: 't.checkout_id',
    checkout: 't.checkout_id',
    wallet: 't',
    amount: 't.amount_micros',
    currency: 't.currency',
    anomaly: 'null::text',
    at: 't.created_at',
    states: ['open', 'paid', 'unpaid'],
    state: `case when exists (select from payments.payments y where y.checkout_id = t.checkout_id) then 'paid'
      when t.next_look_at is null then 'unpaid' else 'open' end`,
    waits: 'false',
  },
  payment: {
    from: 'payments.payments t',
    id: 't.payment_id',
    checkout: 't.checkout_id',
    wallet: 't',
    amount: 't.amount_micros',
    currency: 't.currency',
    anomaly: 't.anomaly',
    at: 't.paid_at',
    states: ['credited', 'kept'],
    state: 't.state',
    waits: 't.payment_id in (select c.payment_id from payments.cases c where c.closed_at is null)',
  },
  refund: {
    from: 'payments.refunds t join payments.payments p using (payment_id)',
    id: 't.refund_id',
    checkout: 'p.checkout_id',
    wallet: 't',
    amount: 't.amount_micros',
    currency: 'p.currency',
    anomaly: 'null::text',
    at: 't.created_at',
    states: ['asked', 'paid', 'declined'],
    state: 't.state',
    waits: 't.refund_id in (select c.subject from payments.cases c where c.closed_at is null)',
  },
  dispute: {
    from: 'payments.dispute_movements t join payments.payments p using (payment_id)',
    id: 't.movement_id',
    checkout: 'p.checkout_id',
    wallet: 'p',
    amount: 't.amount_micros',
    currency: 'p.currency',
    anomaly: 'null::text',
    at: 't.at',
    states: ['taken', 'returned'],
    state: `case when t.is_reinstated then 'returned' else 'taken' end`,
    waits: 't.movement_id in (select c.subject from payments.cases c where c.closed_at is null)',
  },
};

/**
 * Everything about payments, the newest first, from the line after `after`. Each kind is read by an index in the order of the
 * list and no further than the page, so filters that fit few rows cost a look at those that do not fit.
 */
export async function selectPaymentLines(
  db: Queryable,
  filter: PaymentFilter,
  page: PaymentPage,
): Promise<readonly PaymentLine[]> {
  const values: unknown[] = [page.most];
  const put = (value: unknown): string => `$${values.push(value)}`;
  const kinds = PAYMENT_KINDS.filter(
    (kind) =>
      (filter.kind === undefined || filter.kind === kind) &&
      (filter.state === undefined || BRANCHES[kind].states.includes(filter.state)) &&
      !(filter.waits && BRANCHES[kind].waits === 'false'),
  );
  if (kinds.length === 0) return [];
  const { rows } = await db.query<PaymentLine>(
    `select * from (${kinds.map((kind) => branchOf(kind, filter, page.after, put)).join('\nunion all\n')}) lines
     order by at_us desc, id desc limit $1`,
    values,
  );
  return rows;
}

const MOMENT_OF = (us: string) => `timestamptz 'epoch' + ${us}::bigint * interval '1 microsecond'`;

function branchOf(
  kind: PaymentKind,
  filter: PaymentFilter,
  after: PaymentPlace | undefined,
  put: (value: unknown) => string,
): string {
  const { from, id, checkout, wallet, amount, currency, anomaly, at, state, waits } = BRANCHES[kind];
  const conditions = [
    filter.state === undefined ? undefined : `${state} = ${put(filter.state)}`,
    filter.appId === undefined ? undefined : `${wallet}.app_id = ${put(filter.appId)}`,
    filter.userId === undefined ? undefined : `${wallet}.user_id = ${put(filter.userId)}`,
    filter.fromMs === undefined ? undefined : `${at} >= ${MOMENT_OF(put(BigInt(filter.fromMs) * 1_000n))}`,
    filter.untilMs === undefined ? undefined : `${at} < ${MOMENT_OF(put(BigInt(filter.untilMs) * 1_000n))}`,
    after === undefined ? undefined : `(${at}, ${id}) < (${MOMENT_OF(put(after.us))}, ${put(after.id)})`,
    filter.waits ? waits : undefined,
  ].filter((condition) => condition !== undefined);
  return `(select '${kind}' as kind, ${id} as id, ${checkout} as checkout_id, ${wallet}.app_id, ${wallet}.user_id,
    ${amount} as amount_micros, ${currency} as currency, ${state} as state, ${anomaly} as anomaly, ${waits} as waits,
    ${at} as at, (extract(epoch from ${at}) * 1000000)::bigint as at_us
  from ${from}${conditions.length === 0 ? '' : `\n  where ${conditions.join(' and ')}`}
  order by ${at} desc, ${id} desc limit $1)`;
}

/** The checkout that an id leads to: its own, or that of its payment, refund or movement of a dispute. */
export interface FoundCheckout {
  readonly checkout_id: CheckoutId;
  readonly app_id: AppId;
  readonly user_id: EndUserId;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly processor: string;
  readonly processor_checkout: string | null;
  readonly created_at: Date;
  readonly is_watched: boolean;
}

export interface PaymentOfCheckout {
  readonly payment_id: PaymentId;
  readonly processor_payment: string;
  readonly amount_micros: bigint;
  readonly currency: string;
  readonly state: 'credited' | 'kept';
  readonly anomaly: PaymentAnomaly | null;
  readonly paid_at: Date;
}

/** A checkout with its payments, the oldest first. In one statement, because a page has few. */
export async function selectCheckoutByAnyId(
  db: Queryable,
  id: string,
): Promise<{ readonly checkout: FoundCheckout; readonly payments: readonly PaymentOfCheckout[] } | undefined> {
  type Paid = { readonly [Name in keyof PaymentOfCheckout as `paid_${Name}`]: PaymentOfCheckout[Name] };
  // The columns of a payment are null if nobody has paid.
  const { rows } = await db.query<FoundCheckout & (Paid | { readonly paid_payment_id: null })>(
    `select t.checkout_id, t.app_id, t.user_id, t.amount_micros, t.currency, t.processor, t.processor_checkout, t.created_at,
       t.next_look_at is not null as is_watched, y.payment_id as paid_payment_id,
       y.processor_payment as paid_processor_payment, y.amount_micros as paid_amount_micros, y.currency as paid_currency,
       y.state as paid_state, y.anomaly as paid_anomaly, y.paid_at as paid_paid_at
     from payments.checkouts t left join payments.payments y using (checkout_id)
     where t.checkout_id = coalesce(
       (select p.checkout_id from payments.payments p where p.payment_id = $1),
       (select p.checkout_id from payments.refunds r join payments.payments p using (payment_id) where r.refund_id = $1),
       (select p.checkout_id from payments.dispute_movements m join payments.payments p using (payment_id) where m.movement_id = $1),
       (select p.checkout_id from payments.cases c join payments.payments p using (payment_id) where c.case_id = $1),
       $1)
     order by y.paid_at, y.payment_id`,
    [id],
  );
  const [checkout] = rows;
  if (checkout === undefined) return undefined;
  const payments = rows.flatMap((row) =>
    row.paid_payment_id === null
      ? []
      : [
          {
            payment_id: row.paid_payment_id,
            processor_payment: row.paid_processor_payment,
            amount_micros: row.paid_amount_micros,
            currency: row.paid_currency,
            state: row.paid_state,
            anomaly: row.paid_anomaly,
            paid_at: row.paid_paid_at,
          },
        ],
  );
  return { checkout, payments };
}

/** A refund, or a movement of a dispute, of a payment. */
export interface MovedBack {
  readonly kind: 'refund' | 'dispute';
  readonly id: string;
  readonly payment_id: PaymentId;
  readonly amount_micros: bigint;
  readonly state: 'asked' | 'paid' | 'declined' | 'taken' | 'returned';
  /** Whether a wallet followed it. */
  readonly is_booked: boolean;
  /** Tells, for a refund, whether we asked for it. */
  readonly is_ours: boolean;
  readonly at: Date;
  readonly ended_at: Date | null;
  readonly processor_id: string | null;
}

/** The refunds and disputes of payments, the oldest first. */
export async function selectMovedBack(db: Queryable, paymentIds: readonly PaymentId[]): Promise<readonly MovedBack[]> {
  const { rows } = await db.query<MovedBack>(
    `select 'refund' as kind, refund_id as id, payment_id, amount_micros, state, booked_as is not null as is_booked, is_ours,
       created_at as at, ended_at, processor_refund as processor_id
     from payments.refunds where payment_id = any ($1)
     union all
     select 'dispute', movement_id, payment_id, amount_micros, case when is_reinstated then 'returned' else 'taken' end, is_booked,
       false, at, null, processor_movement
     from payments.dispute_movements where payment_id = any ($1)
     order by at, id`,
    [paymentIds],
  );
  return rows;
}
