import type Stripe from 'stripe';
import { dateOf } from '#kernel/time/clock.ts';
import { fromMinorUnits } from '#payments/processor/amounts.ts';
import { CHECKOUT_NAME } from '#payments/stripe/metadata-names.ts';
import type { Movement, Subject } from '#payments/processor/movement.ts';
import { SUBJECTS } from '#payments/stripe/reporting-categories.ts';
import { payerPaymentOf } from '#payments/stripe/report.ts';

const PAGE = 100;

/** The movements of the account's balance in a time. Each page of a hundred is one request. */
export async function* listMovements(
  stripe: Stripe,
  { from, to }: { readonly from: Date; readonly to: Date },
): AsyncGenerator<Movement> {
  const created = { gte: from.getTime() / 1_000, lt: to.getTime() / 1_000 };
  const isOursOf = new Map<string, Promise<boolean>>();
  for await (const moved of stripe.balanceTransactions.list({ created, limit: PAGE, expand: ['data.source'] })) {
    yield await movementOf(stripe, moved, isOursOf);
  }
}

/** The fields of a charge, refund or dispute that say what was paid, and for which payment. */
interface Source {
  readonly id: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly payment_intent?: string | { readonly id: string } | null;
}

async function movementOf(
  stripe: Stripe,
  moved: Stripe.BalanceTransaction,
  isOursOf: Map<string, Promise<boolean>>,
): Promise<Movement> {
  const currency = moved.currency.toUpperCase();
  const subject = SUBJECTS[moved.reporting_category];
  const source = typeof moved.source === 'string' ? { id: moved.source } : (moved.source as Source | null);
  const payment = source === null ? undefined : payerPaymentOf(source);
  const paid =
    subject === undefined || source?.amount === undefined || source.currency === undefined
      ? { amount: signed(Math.abs(moved.amount), currency), currency }
      : { amount: signed(source.amount, source.currency.toUpperCase()), currency: source.currency.toUpperCase() };
  return {
    line: undefined,
    transaction: moved.id,
    category: moved.reporting_category,
    subject,
    createdMs: dateOf(moved.created * 1_000).getTime(),
    currency,
    gross: signed(moved.amount, currency),
    fee: signed(moved.fee, currency),
    net: signed(moved.net, currency),
    source: source?.id,
    payment,
    // A dispute may take less than it is about, in the currency of the balance. The books have what it took.
    paid: movedAsDispute(subject, moved, paid.currency)
      ? { amount: signed(Math.abs(moved.amount), currency), currency }
      : paid,
    isOurs: subject === undefined ? undefined : payment === undefined ? false : await isOurs(stripe, payment, isOursOf),
  };
}

function movedAsDispute(subject: Subject | undefined, moved: Stripe.BalanceTransaction, paidCurrency: string): boolean {
  return (subject === 'dispute' || subject === 'dispute returned') && moved.currency.toUpperCase() === paidCurrency;
}

/** Whether a payment began here. Asked once for each payment. */
function isOurs(stripe: Stripe, payment: string, known: Map<string, Promise<boolean>>): Promise<boolean> {
  const answer =
    known.get(payment) ??
    stripe.paymentIntents.retrieve(payment).then(({ metadata }) => metadata[CHECKOUT_NAME] !== undefined);
  known.set(payment, answer);
  return answer;
}

/** Returns an amount from minor units, negative for money that left. */
function signed(count: number, currency: string): bigint {
  const amount: bigint = fromMinorUnits(Math.abs(count), currency);
  return count < 0 ? -amount : amount;
}
