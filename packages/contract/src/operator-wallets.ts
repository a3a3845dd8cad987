import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId, paymentId, userId } from './identifiers.ts';
import { idempotencyKey, money, reason } from './operator.ts';
import { earlierNext, nextPage, pageLimit } from './pages.ts';

/** Requests and answers about all wallets, and about acts before they are done, for operators (CP-05). */

const USER_LENGTH_MAX = 256;
const PLACE = /^[\w-]{1,600}$/;
export const cellName = z
  .string()
  .optional()
  .meta({ description: 'The cell that has it. It is absent if the service has only one.' });

/** Micros in a query, which is text. */
const amountText = z
  .string()
  .regex(/^\d{1,16}$/, { error: 'must be a whole number of micros' })
  .transform(Number)
  .pipe(amount);

export const operatorWalletParamsSchema = z.object({ appId, userId });
/** A wallet for a user who agreed elsewhere. A first credit needs a key, because a retry must not credit twice. */
const openWalletSchema = z
  .strictObject({
    userId,
    creditMicros: money.optional(),
    spendCapMicros: amount.optional(),
    idempotencyKey: idempotencyKey.optional(),
    reason: reason.optional(),
  })
  .refine((body) => body.creditMicros === undefined || body.idempotencyKey !== undefined, {
    path: ['idempotencyKey'],
    error: 'is required with `creditMicros`',
  });
/** Money into or out of a wallet. The reason is required here: money never moves without one. */
const movementSchema = z.strictObject({ amountMicros: money, reason, idempotencyKey });
const refundSchema = movementSchema.extend({
  paymentId: paymentId.optional().meta({
    description:
      'Makes the payment processor pay this payment back. The refund is booked when it has done so. Leave it out for money that you have returned by other means. A refund that you make at the processor itself is booked without this call.',
  }),
});
/** Lifts a suspension. `writeOff` gives up a shortfall, so it must be said and is never the default. */
const reinstateSchema = z.strictObject({ writeOff: z.boolean().default(false), reason });

/** A wallet as operators see it: a balance plus what its user does not see. */
export const operatorWalletSchema = z
  .object({
    userId: z.string(),
    balanceMicros: amount,
    reservedMicros: amount,
    availableMicros: amount,
    currency: z.string(),
    spendCapMicros: amount.nullable(),
    spentThisMonthMicros: amount,
    status: z.enum(['active', 'suspended']),
    connected: z.boolean(),
    shortfallMicros: amount.meta({ description: 'What the user owes after money was taken back, in micros.' }),
  })
  .meta({ id: 'OperatorWallet' });
const paymentListSchema = z.object({
  payments: z
    .array(
      z.object({
        paymentId: z.string(),
        amountMicros: amount,
        currency: z.string(),
        state: z
          .enum(['credited', 'kept'])
          .meta({ description: 'A `kept` payment is in no wallet, and an operator must look at it.' }),
        anomaly: z
          .enum(['amount', 'currency', 'second', 'no_wallet', 'too_much', 'owner_deleted'])
          .nullable()
          .meta({ description: 'How the payment differs from what was requested. It is null if it does not.' }),
        refundedMicros: amount.meta({ description: 'What was paid back or is about to be, in micros.' }),
        disputedMicros: amount.meta({ description: 'What a bank took and has not returned, in micros.' }),
        paidAt: moment,
      }),
    )
    .meta({ description: 'The newest 100 payments.' }),
});
const walletPageSchema = z.strictObject({
  before: earlierNext(/^(\d{1,18}|[1-9]\d{0,8}\.[1-9]\d{0,17})$/),
  limit: pageLimit(1_000, 1_000),
});
/** A wallet with its holds and entries, all read in one snapshot, so that the figures agree with each other. Entries of other cells never change. */
const walletDetailsSchema = z.object({
  wallet: operatorWalletSchema,
  owner: z
    .object({ identityId: z.string(), email: z.string() })
    .nullable()
    .meta({ description: 'The person who has consented. It is null if nobody has, or if the wallet was released.' }),
  holds: z
    .array(z.object({ callId: z.string(), amountMicros: amount, stream: z.boolean(), placedAt: moment }))
    .meta({ description: 'The oldest 1,000 holds.' }),
  entries: z.array(
    z.object({
      seq: z.int(),
      kind: z.string(),
      cause: z.string(),
      debit: z.string(),
      credit: z.string(),
      amountMicros: amount,
      balanceAfterMicros: amount,
      at: moment,
      cell: z.string().optional().meta({
        description: 'The cell that booked the entry, if the wallet was in several. Each cell numbers its own entries.',
      }),
    }),
  ),
  next: nextPage('before'),
});

const WALLET_STATUSES = ['connected', 'disconnected', 'suspended'] as const;
const WALLET_SORTS = ['newest', 'oldest'] as const;

export const walletListQuerySchema = z
  .strictObject({
    appId: appId.optional(),
    userId: z
      .string()
      .max(USER_LENGTH_MAX)
      .optional()
      .meta({ description: 'Lists only wallets whose user id begins with this, sorted by user id.' }),
    status: z.enum(WALLET_STATUSES).optional().meta({
      description:
        'Lists only wallets with this status. A wallet that is both suspended and disconnected is in both lists.',
    }),
    openedFrom: moment.optional().meta({ description: 'Lists only wallets that were opened at this moment or later.' }),
    openedBefore: moment.optional().meta({ description: 'Lists only wallets that were opened before this moment.' }),
    minHeldMicros: amountText
      .optional()
      .meta({ description: 'Lists only wallets whose running calls hold at least this many micros.' }),
    minBalanceMicros: amountText.optional(),
    maxBalanceMicros: amountText.optional(),
    sort: z
      .enum(WALLET_SORTS)
      .optional()
      .meta({ description: 'Sorts the wallets by when they were opened. The default is `newest`.' }),
    after: earlierNext(PLACE),
    limit: pageLimit(500, 100),
  })
  .refine(({ userId, sort }) => userId === undefined || sort === undefined, {
    path: ['sort'],
    error: 'cannot be combined with `userId`: those wallets come in the order of user ids',
  });

const walletListSchema = z.object({
  wallets: z.array(
    operatorWalletSchema.extend({ appId: z.string(), openedAt: moment, cell: cellName }).meta({ id: 'ListedWallet' }),
  ),
  next: z.string().nullable().meta({
    description:
      'Pass it as `?after=` to get the next page. It is null on the last page. A page that has a `next` can have fewer wallets than `limit`, or none: it has looked through 5,000 wallets of each cell.',
  }),
});

export const WALLET_ACTS = ['open', 'credit', 'refund', 'clawback', 'reinstate', 'release'] as const;

/** An act on a wallet that is not to be done: only what it would do is asked for. */
export const walletPreviewSchema = z
  .strictObject({
    act: z.enum(WALLET_ACTS),
    amountMicros: money.optional().meta({
      description:
        'The amount in micros. `credit`, `refund` and `clawback` need it. For `open`, it is the first credit.',
      examples: [5_000_000],
    }),
    spendCapMicros: amount.optional().meta({ description: 'The monthly cap in micros, for `open`.' }),
    paymentId: paymentId.optional().meta({ description: 'The payment, for `refund`, as in the act itself.' }),
    writeOff: z.boolean().default(false).meta({ description: 'Whether a shortfall is written off, for `reinstate`.' }),
    idempotencyKey: idempotencyKey.optional().meta({
      description: 'The key that the act will have. With a key that was already used, nothing changes.',
      examples: ['invoice-17'],
    }),
  })
  .refine(({ act, amountMicros }) => amountMicros !== undefined || !['credit', 'refund', 'clawback'].includes(act), {
    path: ['amountMicros'],
    error: 'is required for this act',
  });

const walletEffectsSchema = z
  .object({
    changes: z.boolean().meta({
      description: 'Whether the act would change anything. It is false, for example, if the act was already done.',
    }),
    needsSecondPerson: z.boolean().meta({
      description: 'Whether the act would wait until a second operator confirms it. It then does what is shown here.',
    }),
    before: operatorWalletSchema.nullable().meta({ description: 'The wallet now. It is null if the act opens it.' }),
    after: operatorWalletSchema.meta({ description: 'The wallet as the act leaves it.' }),
    entries: z
      .array(
        z.object({
          seq: z.int(),
          kind: z.string(),
          debit: z.string(),
          credit: z.string(),
          amountMicros: amount,
          balanceAfterMicros: amount,
        }),
      )
      .meta({ description: 'The entries that the act makes in the ledger, in this order.' }),
  })
  .meta({ id: 'WalletEffects' });

const wallet = { params: operatorWalletParamsSchema };
/** An act above the amount for one person is kept for a second one (CP-07). */
const MOVES = { ...wallet, answer: operatorWalletSchema, mayWait: true } as const;

/** What each route about wallets takes and answers. */
export const WALLET_ROUTES = {
  'GET /operator/wallets': { query: walletListQuerySchema, answer: walletListSchema },
  'POST /operator/apps/{appId}/wallets': { ...MOVES, params: z.object({ appId }), body: openWalletSchema, status: 201 },
  'POST /operator/apps/{appId}/wallets/{userId}/preview': {
    ...wallet,
    body: walletPreviewSchema,
    answer: walletEffectsSchema,
  },
  'GET /operator/apps/{appId}/wallets/{userId}': { ...wallet, query: walletPageSchema, answer: walletDetailsSchema },
  'GET /operator/apps/{appId}/wallets/{userId}/payments': { ...wallet, answer: paymentListSchema },
  'POST /operator/apps/{appId}/wallets/{userId}/credit': { ...MOVES, body: movementSchema },
  // Only a refund may name a payment.
  'POST /operator/apps/{appId}/wallets/{userId}/refund': { ...MOVES, body: refundSchema },
  'POST /operator/apps/{appId}/wallets/{userId}/clawback': { ...MOVES, body: movementSchema },
  'POST /operator/apps/{appId}/wallets/{userId}/reinstate': { ...MOVES, body: reinstateSchema },
} as const;
