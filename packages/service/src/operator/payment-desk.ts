import type { Actor } from '#audit/entry.ts';
import { type AuditRow, selectEntriesOfPayments } from '#audit/queries.ts';
import type { Pool } from '#db/pool.ts';
import type { CaseId, CheckoutId } from '#kernel/ids.ts';
import { describeFault } from '#kernel/log.ts';
import { type Micros, microsSumFromRow } from '#kernel/micros.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';
import { wholeUnits } from '#payments/amounts.ts';
import type { CaseAct } from '#payments/case-effects.ts';
import { selectCases } from '#payments/case-queries.ts';
import type { Looked } from '#payments/look-again.ts';
import type { TellOfPayment } from '#payments/news.ts';
import { createPaymentOverview, type PaymentDetails, type PaymentOverview } from '#payments/overview.ts';
import type { Processor } from '#payments/processor.ts';
import type { Refunds } from '#payments/refund.ts';
import { type NotSolved, type Solved, solveCase } from '#payments/solve.ts';

export interface DeskDetails extends PaymentDetails {
  /** What was done about the payments, the oldest first, at most 200. */
  readonly history: readonly PaymentAct[];
}

/** A line of the audit trail about a payment. */
export interface PaymentAct extends Actor {
  readonly atMs: number;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | undefined;
  readonly amount: Micros | undefined;
}

type DeskRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>;

/** Payments of all wallets, and what a person can do about them. */
export interface PaymentDesk {
  readonly page: PaymentOverview['page'];
  readonly find: (id: string) => Promise<DeskDetails | undefined>;
  /** The payment that a case is about. Undefined if there is no such case. */
  readonly paymentOfCase: (caseId: CaseId) => Promise<string | undefined>;
  /** Reads a checkout at the processor again, and brings the books into line. */
  readonly lookUp: (act: Act, id: string) => Promise<Looked | DeskRefusal>;
  /** Solves a case, once. A repeat with the same act is `repeated` and changes nothing. */
  readonly solve: (
    act: Act,
    solution: { readonly caseId: CaseId; readonly act: CaseAct },
  ) => Promise<'solved' | 'repeated' | 'declined' | DeskRefusal>;
}

interface DeskOptions {
  readonly pool: Pool;
  /** Undefined if no payment processor is configured. */
  readonly payments:
    | {
        readonly processor: Processor;
        readonly refunds: Refunds;
        readonly lookAgain: (checkoutId: CheckoutId) => Promise<Looked>;
        readonly tellOfPayment: TellOfPayment;
      }
    | undefined;
}

const HISTORY_MAX = 200;

export function createPaymentDesk({ pool, payments }: DeskOptions): PaymentDesk {
  const payable = (amount: Micros, currency: string) =>
    payments === undefined ? amount : wholeUnits(amount, payments.processor.amountsIn(currency));
  const overview = createPaymentOverview(pool, payable);

  return {
    page: overview.page,
    find: async (id) => {
      const details = await overview.find(id);
      if (details === undefined) return undefined;
      const { app_id: app, user_id: user } = details.checkout;
      const subjects = details.payments.flatMap(({ payment_id: one }) => [one, `${app} ${user} ${one}`]);
      subjects.push(details.checkout.checkout_id);
      const history = await selectEntriesOfPayments(pool, subjects, HISTORY_MAX);
      return { ...details, history: history.map(actOf) };
    },
    paymentOfCase: async (caseId) => (await selectCases(pool, { caseId }))[0]?.payment_id,
    lookUp: async (act, id) => {
      const details = await overview.find(id);
      if (details === undefined) return noSuch();
      const { checkout, payments: paid } = details;
      if (payments === undefined || payments.processor.name !== checkout.processor) return refusalOf('other_processor');
      const subject = paid[0]?.payment_id ?? checkout.checkout_id;
      const recorded = await audited(pool, { ...act, action: 'payment.look-up', subject }, async () => 'asked');
      if (recorded instanceof Refusal) return recorded;
      try {
        return await payments.lookAgain(checkout.checkout_id);
      } catch (fault) {
        return refuse('CONFLICT', `The payment processor did not answer: ${faultOf(fault)} Try again later.`);
      }
    },
    solve: async (act, solution) => {
      const [row] = await selectCases(pool, { caseId: solution.caseId });
      if (row === undefined) return noSuch();
      const named = { ...act, action: 'payment.solve', subject: row.payment_id };
      const options = { processor: payments?.processor, tellOfPayment: payments?.tellOfPayment };
      const done = await audited<Solved | 'repeated' | DeskRefusal>(pool, named, async (tx, note) => {
        const solved = await solveCase(tx, options, solution);
        if (solved === 'repeated') return new Repeated(solved);
        if (typeof solved === 'string') return refusalOf(solved);
        note(changedBy(solved));
        return solved;
      });
      if (done instanceof Refusal || done === 'repeated') return done;
      // After the commit: no lock may be held while the processor answers. The sweep asks again if this process dies here.
      const answer = done.refundIds.length === 0 ? 'asked' : await payments?.refunds.ask(done.refundIds);
      return answer === 'declined' ? answer : 'solved';
    },
  };
}

function actOf(row: AuditRow): PaymentAct {
  return {
    atMs: row.at.getTime(),
    actor: row.actor,
    actorName: row.actor_name ?? undefined,
    action: row.action,
    subject: row.subject,
    reason: row.reason ?? undefined,
    amount: row.amount_micros === null ? undefined : microsSumFromRow(row.amount_micros),
  };
}

function faultOf(fault: unknown): string {
  const { message = '' } = describeFault(fault) as { readonly message?: string };
  return /^The request to Stripe failed: [\w ]+\.$/.test(message) ? message : 'it cannot be reached.';
}

/** For the audit trail: the case, and the wallet before and after. */
function changedBy({ row, effect }: Solved) {
  const { before, after } = effect;
  const facts = (wallet: typeof before) =>
    wallet && {
      balanceMicros: wallet.balance,
      shortfallMicros: wallet.shortfall,
      isSuspended: wallet.isSuspended,
    };
  return {
    amount: effect.amount,
    before: { case: row.kind, subject: row.subject, ...facts(before) },
    after: { solvedBy: effect.act, entries: effect.entries, ...facts(after) },
  };
}

function noSuch(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'There is no such checkout, payment, refund, dispute or case.');
}

/** Why nothing was done. */
const NOT_SOLVED: Readonly<Record<Exclude<NotSolved, 'no_case'>, string>> = {
  no_wallet: 'The wallet does not exist. Open it first, or choose another act.',
  currency: 'The payment is in another currency than the wallet. Pay it back.',
  part_went_back: 'A part of the payment went back. Pay the rest back.',
  nothing_left: 'Nothing is left that the payment processor could pay back.',
  too_much: 'The balance would exceed the largest possible amount.',
  too_little: 'The available balance does not cover what is owed. Write it off, or wait.',
  nothing_owed: 'The wallet is not suspended any more.',
  other_act: 'This case was solved in another way before.',
  not_for_this: 'This act does not solve this kind of case.',
  other_processor: 'The payment processor that is configured did not take this payment.',
};

function refusalOf(why: NotSolved): DeskRefusal {
  if (why === 'no_case') return noSuch();
  if (why === 'not_for_this') return refuse('BAD_REQUEST', NOT_SOLVED[why], { param: 'act' });
  return refuse('CONFLICT', NOT_SOLVED[why]);
}
