import { PAYMENT_ROUTES } from '@purser/contract/operator-payments.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentMs } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import type { DeskDetails, PaymentDesk } from '#operator/money/payment-desk.ts';
import { leftOf } from '#payments/overview/overview.ts';

/** Routes about payments of all wallets, and about what waits for a person (CP-05). */
export function addPaymentRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { paymentDesk: desk } = operator;
  const add = routes(PAYMENT_ROUTES);

  add(
    'GET /operator/payments',
    async ({ query: { before, limit, waits, from, until, kind, state, appId, userId } }) => {
      const texts = { kind, state, appId, userId };
      const filter = { ...texts, waits: waits === 'true', fromMs: sentMs(from), untilMs: sentMs(until) };
      const { lines, next } = await desk.page(filter, { after: before, most: limit });
      return { payments: lines, next };
    },
  );

  add('GET /operator/payments/{id}', ({ params }) => detailsOf(desk, params.id));

  add('POST /operator/payments/{id}/look-up', async ({ act, params: { id } }) => {
    const looked = granted(await desk.lookUp(act, id));
    if (looked !== 'unknown') return detailsOf(desk, id);
    const message = 'The payment processor does not know this payment. Does it belong to another account?';
    return refuse('CONFLICT', message);
  });

  add('POST /operator/payment-cases/{caseId}/solve', async ({ act, params: { caseId }, body }) => {
    const solved = granted(await desk.solve(act, { caseId, act: body.act }));
    if (solved instanceof PendingAct) return solved;
    if (solved === 'solved') return detailsOf(desk, (await desk.paymentOfCase(caseId)) ?? '');
    const message = 'The payment processor has declined the refund. Nothing was paid back, and there is a new case.';
    return refuse('CONFLICT', message);
  });
}

async function detailsOf(desk: PaymentDesk, id: string) {
  const found = await desk.find(id);
  if (found === undefined) return refuse('NOT_FOUND', 'There is no such checkout, payment, refund or dispute.');
  return shownDetails(found);
}

function shownDetails({ checkout, payments, movedBack, cases, entries, history }: DeskDetails) {
  const state = payments.length > 0 ? ('paid' as const) : checkout.is_watched ? ('open' as const) : ('unpaid' as const);
  return {
    checkout: { ...checkout, state, processorId: checkout.processor_checkout },
    payments: payments.map((payment) => ({
      ...payment,
      left: leftOf(payment, movedBack),
      processorId: payment.processor_payment,
    })),
    movedBack,
    cases: cases.map(({ row, amount, effects }) => ({ ...row, amount, acts: effects })),
    entries,
    history,
  };
}
