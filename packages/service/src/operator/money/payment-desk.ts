import { selectEntriesAbout } from '#audit/queries.ts';
import type { CaseId, CheckoutId } from '#kernel/values/ids.ts';
import { describeFault } from '#kernel/log.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited } from '#operator/acts/act.ts';
import { caseRefusal, type CaseSolution } from '#operator/money/case-solution.ts';
import { type MoneyGround, type MoneyRefusal, orderMoneyAct } from '#operator/money/money-acts.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { type Entry, entryOf } from '#operator/look-up/audit-trail.ts';
import { wholeUnits } from '#payments/processor/amounts.ts';
import { selectCases } from '#payments/cases/queries.ts';
import type { Looked } from '#payments/booking/look-again.ts';
import { createPaymentOverview, type PaymentDetails, type ReadPayments } from '#payments/overview/overview.ts';

export interface DeskDetails extends PaymentDetails {
  /** What was done about the payments, the oldest first, at most 200. */
  readonly history: readonly Entry[];
}

type DeskRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>;

/** Payments of all wallets, and what a person can do about them. */
export type PaymentDesk = ReturnType<typeof createPaymentDesk>;

const HISTORY_MAX = 200;

/** Takes `lookAgain`, which is undefined if no payment processor is configured. */
export function createPaymentDesk(
  ground: MoneyGround,
  read: ReadPayments,
  lookAgain: ((checkoutId: CheckoutId) => Promise<Looked>) | undefined,
) {
  const { pool, refunds } = ground;
  const processor = ground.cases?.processor;
  const payable = (amount: Micros, currency: string) =>
    processor === undefined ? amount : wholeUnits(amount, processor.amountsIn(currency));
  const overview = createPaymentOverview(pool, read, payable);

  return {
    page: overview.page,
    find: async (id: string): Promise<DeskDetails | undefined> => {
      const details = await overview.find(id);
      if (details === undefined) return undefined;
      const { app_id: app, user_id: user } = details.checkout;
      const subjects = details.payments.flatMap(({ payment_id: one }) => [one, `${app} ${user} ${one}`]);
      subjects.push(details.checkout.checkout_id);
      const history = await selectEntriesAbout(pool, subjects, HISTORY_MAX);
      return { ...details, history: history.map(entryOf) };
    },
    /** The payment that a case is about. Undefined if there is no such case. */
    paymentOfCase: async (caseId: CaseId) => (await selectCases(pool, { caseId }))[0]?.payment_id,
    /** Reads a checkout at the processor again, and brings the books into line. */
    lookUp: async (act: Act, id: string): Promise<Looked | DeskRefusal> => {
      const details = await overview.find(id);
      if (details === undefined) return caseRefusal('no_case');
      const { checkout, payments: paid } = details;
      if (lookAgain === undefined || processor?.name !== checkout.processor) return caseRefusal('other_processor');
      const subject = paid[0]?.payment_id ?? checkout.checkout_id;
      const recorded = await audited(pool, { ...act, action: 'payment.look-up', subject }, async () => 'asked');
      if (recorded instanceof Refusal) return recorded;
      try {
        return await lookAgain(checkout.checkout_id);
      } catch (fault) {
        return refuse('CONFLICT', `The payment processor did not answer: ${faultOf(fault)} Try again later.`);
      }
    },
    /** Solves a case, once, within the limits of the operator. A repeat with the same act changes nothing. */
    solve: async (
      act: Act,
      solution: Pick<CaseSolution, 'caseId' | 'act'>,
    ): Promise<'solved' | 'declined' | PendingAct | MoneyRefusal> => {
      const [row] = await selectCases(pool, { caseId: solution.caseId });
      if (row === undefined) return caseRefusal('no_case');
      const { app_id: appId, user_id: userId, payment_id: paymentId } = row;
      const money = { kind: 'solve', appId, userId, paymentId, ...solution } as const;
      const done = await orderMoneyAct(ground, act, money);
      if (done instanceof PendingAct || done instanceof Refusal) return done;
      // After the commit: no lock may be held while the processor answers. The sweep asks again if this process dies here.
      return done.length > 0 && (await refunds?.ask(done)) === 'declined' ? 'declined' : 'solved';
    },
  };
}

function faultOf(fault: unknown): string {
  const { message = '' } = describeFault(fault) as { readonly message?: string };
  return /^The request to Stripe failed: [\w ]+\.$/.test(message) ? message : 'it cannot be reached.';
}
