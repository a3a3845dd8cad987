import {
  anyPaymentParamsSchema,
  caseParamsSchema,
  lookUpSchema,
  paymentDetailsSchema,
  paymentLineListSchema,
  paymentQuerySchema,
  solveCaseSchema,
} from '@purser/contract/operator-payments.ts';
import { pendingActSchema } from '@purser/contract/operator-pending.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { pendingToWire } from '#http/operator-plane/money/pending-to-wire.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { epochMsOf, isoOf } from '#kernel/time/clock.ts';
import { microsFromRow, microsSumFromRow, microsToWire, type Micros } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { EntryRow } from '#ledger/history/queries.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import type { DeskDetails, PaymentAct, PaymentDesk } from '#operator/money/payment-desk.ts';
import type { CaseEffect } from '#payments/cases/effects.ts';
import type { PaymentLine } from '#payments/overview/queries.ts';
import { type CaseWithEffects, leftOf } from '#payments/overview/overview.ts';

/** Routes about payments of all wallets, and about what waits for a person (CP-05). */
export function addPaymentRoutes(plane: Plane, operator: OperatorPlane): void {
  const { paymentDesk: desk } = operator;
  plane.get(
    '/operator/payments',
    { schema: { querystring: paymentQuerySchema, response: { 200: paymentLineListSchema } } },
    async ({ query }) => {
      const { before, limit, waits, from, until, kind, state, appId, userId } = query;
      const filter = { kind, state, appId, userId, waits: waits === 'true', fromMs: msOf(from), untilMs: msOf(until) };
      const { lines, next } = await desk.page(filter, { after: before, most: limit });
      return { payments: lines.map(lineToWire), next: next ?? null };
    },
  );

  plane.get(
    '/operator/payments/:id',
    { schema: { params: anyPaymentParamsSchema, response: { 200: paymentDetailsSchema } } },
    async ({ params }) => detailsOf(desk, params.id),
  );

  plane.post(
    '/operator/payments/:id/look-up',
    { schema: { params: anyPaymentParamsSchema, body: lookUpSchema, response: { 200: paymentDetailsSchema } } },
    async (request) => {
      const looked = granted(await desk.lookUp(actOf(operator, request, request.body.reason), request.params.id));
      if (looked === 'unknown')
        return granted(
          refuse('CONFLICT', 'The payment processor does not know this payment. Does it belong to another account?'),
        );
      return detailsOf(desk, request.params.id);
    },
  );

  plane.post(
    '/operator/payment-cases/:caseId/solve',
    {
      schema: {
        params: caseParamsSchema,
        body: solveCaseSchema,
        response: { 200: paymentDetailsSchema, 202: pendingActSchema },
      },
    },
    async (request, reply) => {
      const { act, reason } = request.body;
      const { caseId } = request.params;
      const solved = granted(await desk.solve(actOf(operator, request, reason), { caseId, act }));
      if (solved instanceof PendingAct) return reply.code(202).send(pendingToWire(solved));
      if (solved === 'declined')
        return granted(
          refuse(
            'CONFLICT',
            'The payment processor has declined the refund. Nothing was paid back, and there is a new case.',
          ),
        );
      return detailsOf(desk, (await desk.paymentOfCase(caseId)) ?? '');
    },
  );
}

function msOf(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : epochMsOf(moment);
}

async function detailsOf(desk: PaymentDesk, id: string) {
  const found = await desk.find(id);
  return detailsToWire(granted(found ?? refuse('NOT_FOUND', 'There is no such checkout, payment, refund or dispute.')));
}

function lineToWire(line: PaymentLine) {
  return {
    kind: line.kind,
    id: line.id,
    checkoutId: line.checkout_id,
    appId: line.app_id,
    userId: line.user_id,
    amountMicros: rowToWire(line.amount_micros),
    currency: line.currency,
    state: line.state,
    anomaly: line.anomaly,
    waits: line.waits,
    at: isoOf(line.at.getTime()),
    cell: line.cell,
  };
}

function detailsToWire(details: DeskDetails) {
  const { checkout, payments, movedBack, cases, entries, history } = details;
  return {
    checkout: {
      checkoutId: checkout.checkout_id,
      appId: checkout.app_id,
      userId: checkout.user_id,
      amountMicros: rowToWire(checkout.amount_micros),
      currency: checkout.currency,
      state: payments.length > 0 ? ('paid' as const) : checkout.is_watched ? ('open' as const) : ('unpaid' as const),
      processor: checkout.processor,
      processorId: checkout.processor_checkout,
      createdAt: isoOf(checkout.created_at.getTime()),
    },
    payments: payments.map((payment) => ({
      paymentId: payment.payment_id,
      amountMicros: rowToWire(payment.amount_micros),
      currency: payment.currency,
      state: payment.state,
      anomaly: payment.anomaly,
      leftMicros: microsToWire(leftOf(payment, movedBack)),
      processorId: payment.processor_payment,
      paidAt: isoOf(payment.paid_at.getTime()),
    })),
    movedBack: movedBack.map((one) => ({
      kind: one.kind,
      id: one.id,
      paymentId: one.payment_id,
      amountMicros: rowToWire(one.amount_micros),
      state: one.state,
      booked: one.is_booked,
      ours: one.is_ours,
      processorId: one.processor_id,
      at: isoOf(one.at.getTime()),
      endedAt: one.ended_at === null ? null : isoOf(one.ended_at.getTime()),
    })),
    cases: cases.map(caseToWire),
    entries: entries.map(entryToWire),
    history: history.map(actToWire),
  };
}

function caseToWire({ row, amount, effects }: CaseWithEffects) {
  return {
    caseId: row.case_id,
    paymentId: row.payment_id,
    kind: row.kind,
    subject: row.subject,
    amountMicros: microsToWire(amount),
    openedAt: isoOf(row.opened_at.getTime()),
    closedAt: row.closed_at === null ? null : isoOf(row.closed_at.getTime()),
    closedAs: row.closed_as,
    acts: effects.map(effectToWire),
  };
}

function effectToWire({ act, obstacle, amount, paidBack, entries, before, after }: CaseEffect) {
  return {
    act,
    obstacle: obstacle ?? null,
    amountMicros: microsToWire(amount),
    paidBackMicros: paidBack === undefined ? null : microsToWire(paidBack),
    entries: entries.map(({ kind, debit, credit, amount: moved }) => ({
      kind,
      debit,
      credit,
      amountMicros: microsToWire(moved),
    })),
    before: standingToWire(before),
    after: standingToWire(after),
  };
}

function standingToWire(standing: CaseEffect['before']) {
  if (standing === undefined) return null;
  const { balance, shortfall, isSuspended } = standing;
  return { balanceMicros: microsToWire(balance), shortfallMicros: microsToWire(shortfall), suspended: isSuspended };
}

function entryToWire(entry: EntryRow) {
  return {
    seq: Number(entry.seq),
    kind: entry.kind,
    debit: entry.debit,
    credit: entry.credit,
    amountMicros: microsToWire(microsSumFromRow(entry.amount_micros)),
    balanceAfterMicros: rowToWire(entry.balance_after_micros),
    at: isoOf(entry.at.getTime()),
  };
}

function actToWire({ atMs, actor, actorName, action, subject, reason, amount }: PaymentAct) {
  return {
    at: isoOf(atMs),
    actor,
    actorName: actorName ?? null,
    action,
    subject,
    reason: reason ?? null,
    amountMicros: amount === undefined ? null : microsToWire(amount),
  };
}

function rowToWire(value: bigint): number {
  const amount: Micros = microsFromRow(value);
  return microsToWire(amount);
}
