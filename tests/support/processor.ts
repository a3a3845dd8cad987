import type { CheckoutId, RefundId } from '../../packages/service/src/kernel/values/ids.ts';
import { type Micros, micros } from '../../packages/service/src/kernel/values/micros.ts';
import { refuse } from '../../packages/service/src/kernel/faults/refusal.ts';
import { payableIn } from '../../packages/service/src/payments/processor/amounts.ts';
import type {
  CheckoutOrder,
  DisputeMovement,
  Processor,
  RefundOrder,
  RefundReport,
} from '../../packages/service/src/payments/processor/processor.ts';

/** A payment processor in memory that does what a test says and implements the same port as Stripe. */
export interface FakeProcessor extends Processor, Hand {
  readonly orders: readonly CheckoutOrder[];
  readonly refundOrders: readonly RefundOrder[];
  /** While this is set, the processor is unreachable. */
  isAway: boolean;
  /** What it does with requested refunds. `lost` means that it accepts the refund and then does not know it. */
  refunds: RefundReport['state'] | 'lost';
}

/** What happens at the processor. */
type Hand = ReturnType<typeof handOf>;

interface FakePayment {
  readonly checkoutId: CheckoutId;
  readonly received: { readonly amount: Micros; readonly currency: string };
  readonly refunds: RefundReport[];
  readonly movements: DisputeMovement[];
  readonly anomalies: string[];
}

/** What the processor has in its books. */
interface Books {
  readonly orders: CheckoutOrder[];
  readonly refundOrders: RefundOrder[];
  readonly payments: Map<string, FakePayment>;
  readonly next: (kind: string) => string;
  readonly found: (payment: string) => FakePayment;
}

const SIGNATURE = 'signed by the fake processor';

export function createFakeProcessor(name: Processor['name'] = 'stripe'): FakeProcessor {
  const books = openBooks();
  const { payments } = books;
  const hand = handOf(books);
  const reached = (): void => {
    if (fake.isAway) throw new Error('The fake processor is away.');
  };
  const fake: FakeProcessor = {
    ...hand,
    name,
    formTargets: ['https://pay.example.test'],
    amountsIn: payableIn,
    orders: books.orders,
    refundOrders: books.refundOrders,
    isAway: false,
    refunds: 'under_way',
    openCheckout: async (order) => {
      reached();
      books.orders.push(order);
      const processorCheckout = `cs_${order.checkoutId}`;
      return { processorCheckout, url: `https://pay.example.test/${processorCheckout}` };
    },
    readWebhook: async (body, headers) => {
      if (headers['x-fake-signature'] !== SIGNATURE)
        return refuse('BAD_REQUEST', 'The processor did not sign this webhook.');
      const { id, payment } = JSON.parse(body.toString('utf8')) as { readonly id: string; readonly payment: string };
      return { eventId: id, type: 'fake', processorPayment: payment };
    },
    lookUp: async (payment) => {
      reached();
      return payments.has(payment) ? hand.report(payment) : undefined;
    },
    lookUpCheckout: async (processorCheckout) => {
      reached();
      const payment = [...payments].find(([, { checkoutId }]) => `cs_${checkoutId}` === processorCheckout)?.[0];
      return payment === undefined ? undefined : hand.report(payment);
    },
    refund: async (order) => {
      reached();
      books.refundOrders.push(order);
      if (fake.refunds === 'declined') return 'declined';
      const { refunds } = books.found(order.processorPayment);
      const isKnown = refunds.some(({ refundId }) => refundId === order.refundId);
      if (fake.refunds !== 'lost' && !isKnown) {
        const { refundId, amount } = order;
        refunds.push({ processorRefund: books.next('re'), refundId, amount, state: fake.refunds });
      }
      return 'asked';
    },
  };
  return fake;
}

function openBooks(): Books {
  const payments = new Map<string, FakePayment>();
  let count = 0;
  return {
    orders: [],
    refundOrders: [],
    payments,
    next: (kind) => `${kind}_${(count += 1)}`,
    found: (payment) => {
      const known = payments.get(payment);
      if (known === undefined) throw new Error('The fake processor has no such payment.');
      return known;
    },
  };
}

function handOf({ orders, payments, next, found }: Books) {
  return {
    /** Pays at a checkout, by default the requested amount, and returns the payment. */
    pay: (checkoutId: CheckoutId, paid: { readonly amount?: number; readonly currency?: string } = {}) => {
      const order = orders.find((one) => one.checkoutId === checkoutId);
      if (order === undefined) throw new Error('The fake processor has no such checkout.');
      const amount = paid.amount === undefined ? order.amount : micros(BigInt(paid.amount));
      const received = { amount, currency: paid.currency ?? order.currency };
      const payment = next('pi');
      payments.set(payment, { checkoutId, received, refunds: [], movements: [], anomalies: [] });
      return payment;
    },
    /** Refunds without a request from us. Returns the refund. */
    refundThere: (payment: string, amount: number, state: RefundReport['state'] = 'paid') => {
      const processorRefund = next('re');
      found(payment).refunds.push({ processorRefund, refundId: undefined, amount: micros(BigInt(amount)), state });
      return processorRefund;
    },
    /** Sets the state of a refund, by the processor's name or ours, and what it says of its amount. */
    setRefund: (refund: string, state: RefundReport['state'], amount?: Micros) => {
      for (const { refunds } of payments.values()) {
        const index = refunds.findIndex(
          (one) => one.processorRefund === refund || one.refundId === (refund as RefundId),
        );
        const known = refunds[index];
        if (known !== undefined) refunds[index] = { ...known, state, amount: amount ?? known.amount };
      }
    },
    /** A bank takes money back or returns it. */
    dispute: (payment: string, amount: number, isReinstated = false) => {
      found(payment).movements.push({ processorMovement: next('txn'), amount: micros(BigInt(amount)), isReinstated });
    },
    /** Adds something that cannot be booked, such as a refund in another currency. */
    oddity: (payment: string, what: string) => void found(payment).anomalies.push(what),
    /** A webhook as the processor would send it now. Each has a different id. */
    webhook: (payment: string) => ({
      body: Buffer.from(JSON.stringify({ id: next('evt'), payment })),
      headers: { 'x-fake-signature': SIGNATURE },
    }),
    /** Its current data about a payment. */
    report: (payment: string) => {
      const { movements, refunds, ...rest } = found(payment);
      return { ...rest, processorPayment: payment, refunds: [...refunds], disputeMovements: [...movements] };
    },
  };
}
