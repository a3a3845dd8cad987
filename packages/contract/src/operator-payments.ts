import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId, userId } from './identifiers.ts';
import { reason } from './operator.ts';
import { cellName } from './operator-wallets.ts';
import { earlierNext, nextPage, pageLimit } from './pages.ts';

/** Payments of all wallets, and what about them waits for a person (CP-05, ON-02). */

const kind = z.enum(['checkout', 'payment', 'refund', 'dispute']);
const state = z.enum(['open', 'paid', 'unpaid', 'credited', 'kept', 'asked', 'declined', 'taken', 'returned']).meta({
  description:
    'A checkout is `open`, `paid` or `unpaid`; a payment `credited` or `kept`; a refund `asked`, `paid` or `declined`; a movement of a dispute `taken` or `returned`.',
});
const anomaly = z
  .enum(['amount', 'currency', 'second', 'no_wallet', 'too_much', 'owner_deleted'])
  .nullable()
  .meta({ description: 'How a payment differs from what was requested. It is null if it does not.' });
const caseActSchema = z.enum(['pay_back', 'credit', 'book', 'release', 'mark_paid', 'recover', 'write_off', 'close']);

const paymentQuerySchema = z.strictObject({
  kind: kind.optional(),
  state: state.optional(),
  appId: appId.optional(),
  userId: userId.optional(),
  from: moment.optional(),
  until: moment.optional().meta({ description: 'Lists only what began before this moment.' }),
  waits: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'With `true`, lists only what waits for a person.' }),
  before: earlierNext(/^\d{1,18}\.\w{1,64}$/),
  limit: pageLimit(500, 100),
});

const paymentLineListSchema = z.object({
  payments: z.array(
    z.object({
      kind,
      id: z.string(),
      checkoutId: z.string(),
      appId: z.string(),
      userId: z.string(),
      amountMicros: amount,
      currency: z.string(),
      state,
      anomaly,
      waits: z.boolean().meta({ description: 'Whether a person must decide something about it.' }),
      at: moment,
      cell: cellName,
    }),
  ),
  next: nextPage('before'),
});

const standing = z
  .object({ balanceMicros: amount, shortfallMicros: amount, suspended: z.boolean() })
  .nullable()
  .meta({ description: 'The state of the wallet. It is null if there is no wallet.' });
const entry = z.object({ kind: z.string(), debit: z.string(), credit: z.string(), amountMicros: amount });
const processorId = z.string().nullable().meta({
  description: 'The id to search for in the dashboard of the payment processor. It is null if there is none.',
});

/** A checkout and everything that hangs on it. */
const paymentDetailsSchema = z
  .object({
    checkout: z.object({
      checkoutId: z.string(),
      appId: z.string(),
      userId: z.string(),
      amountMicros: amount,
      currency: z.string(),
      state: z.enum(['open', 'paid', 'unpaid']),
      processor: z.string(),
      processorId,
      createdAt: moment,
    }),
    payments: z.array(
      z.object({
        paymentId: z.string(),
        amountMicros: amount,
        currency: z.string(),
        state: z.enum(['credited', 'kept']),
        anomaly,
        leftMicros: amount.meta({ description: 'What was neither paid back nor taken by a bank, in micros.' }),
        processorId,
        paidAt: moment,
      }),
    ),
    movedBack: z
      .array(
        z.object({
          kind: z.enum(['refund', 'dispute']),
          id: z.string(),
          paymentId: z.string(),
          amountMicros: amount,
          state: z.enum(['asked', 'paid', 'declined', 'taken', 'returned']),
          booked: z.boolean().meta({ description: 'Whether the wallet’s balance has followed it.' }),
          ours: z.boolean().meta({ description: 'Whether this service asked for it, as it does for its own refunds.' }),
          processorId,
          at: moment,
          endedAt: moment.nullable(),
        }),
      )
      .meta({ description: 'Refunds and movements of disputes.' }),
    cases: z.array(
      z.object({
        caseId: z.string(),
        paymentId: z.string(),
        kind: z.enum([
          'kept',
          'refund_unknown',
          'refund_not_released',
          'refund_not_returned',
          'refund_not_taken',
          'dispute_not_booked',
          'other_currency',
          'wallet_suspended',
        ]),
        subject: z.string(),
        amountMicros: amount,
        openedAt: moment,
        closedAt: moment.nullable(),
        closedAs: z.string().nullable().meta({
          description:
            'The act that closed the case, or `settled` if a later booking did. It is null while the case is open.',
        }),
        acts: z
          .array(
            z.object({
              act: caseActSchema,
              obstacle: z
                .string()
                .nullable()
                .meta({ description: 'Why the act is not possible now. It is null if it is possible.' }),
              amountMicros: amount,
              paidBackMicros: amount.nullable(),
              entries: z.array(entry).meta({ description: 'The entries that the act would make.' }),
              before: standing,
              after: standing,
            }),
          )
          .meta({ description: 'The acts that can solve the case. The list is empty once the case is closed.' }),
      }),
    ),
    entries: z
      .array(entry.extend({ seq: z.int(), balanceAfterMicros: amount, at: moment }))
      .meta({ description: 'The entries that these payments made in the wallet.' }),
    history: z.array(
      z.object({
        at: moment,
        actor: z.string(),
        actorName: z.string().nullable(),
        action: z.string(),
        subject: z.string(),
        reason: z.string().nullable(),
        amountMicros: amount.nullable(),
      }),
    ),
  })
  .meta({ id: 'PaymentDetails' });

const payment = z.object({ id: z.string().max(64) });

/** What each route about payments takes and answers. */
export const PAYMENT_ROUTES = {
  'GET /operator/payments': { query: paymentQuerySchema, answer: paymentLineListSchema },
  'GET /operator/payments/{id}': { params: payment, answer: paymentDetailsSchema },
  'POST /operator/payments/{id}/look-up': {
    params: payment,
    body: z.strictObject({ reason }),
    answer: paymentDetailsSchema,
  },
  'POST /operator/payment-cases/{caseId}/solve': {
    params: z.object({ caseId: z.string().max(64).brand<'CaseId'>() }),
    body: z.strictObject({ act: caseActSchema, reason }),
    answer: paymentDetailsSchema,
    mayWait: true,
  },
} as const;
