import { z } from 'zod';
import { amount, moment } from './control.ts';
import { reason } from './operator.ts';
import { operatorWalletSchema } from './operator-wallets.ts';
import { before, nextPage, pageLimit } from './pages.ts';

/** Acts of operators that wait for a second person (CP-07). */

const facts = z.record(z.string(), z.unknown()).nullable();

export const pendingActSchema = z
  .object({
    pendingId: z.string(),
    action: z.string().meta({ description: 'The act, named as in the audit trail.', examples: ['wallet.credit'] }),
    subject: z.string().meta({ description: 'The app and the user, and the payment if there is one.' }),
    amountMicros: amount,
    reason: z.string(),
    before: facts.meta({ description: 'The wallet when the act was asked for.' }),
    after: facts.meta({ description: 'The wallet as the act would have left it then.' }),
    state: z.enum(['waiting', 'done', 'rejected', 'expired']),
    requestedBy: z.string().meta({ description: 'The e-mail of the operator who asked for it.' }),
    requestedAt: moment,
    expiresAt: moment.meta({ description: 'When the act expires: 24 hours after it was asked for.' }),
    decidedBy: z
      .string()
      .nullable()
      .meta({ description: 'The e-mail of the operator who confirmed or rejected it. It is null if nobody has.' }),
    decidedAt: moment.nullable(),
    decidedReason: z.string().nullable(),
  })
  .meta({ id: 'PendingAct' });

const DECISION = { params: z.object({ pendingId: z.string().max(64) }), body: z.strictObject({ reason }) };

/** What each route about acts for two persons takes and answers. */
export const PENDING_ROUTES = {
  'GET /operator/pending': {
    query: z.strictObject({
      state: z
        .enum(['waiting', 'all'])
        .default('waiting')
        .meta({ description: '`all` also shows acts that were done, rejected or expired.' }),
      before,
      limit: pageLimit(500, 100),
    }),
    answer: z.object({
      acts: z.array(pendingActSchema).meta({ description: 'The newest acts come first.' }),
      next: nextPage('before'),
    }),
  },
  'POST /operator/pending/{pendingId}/confirm': {
    ...DECISION,
    answer: z.object({
      act: pendingActSchema,
      wallet: operatorWalletSchema.nullable().meta({
        description: 'The wallet after the act. It is null if a payment without a wallet was paid back.',
      }),
    }),
  },
  'POST /operator/pending/{pendingId}/reject': { ...DECISION, answer: pendingActSchema },
} as const;
