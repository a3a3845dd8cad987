import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId, paymentId } from './identifiers.ts';
import { idempotencyKey, money, operatorWalletSchema } from './operator.ts';
import { earlierNext, pageLimit } from './pages.ts';

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

export const walletListSchema = z.object({
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

export const walletEffectsSchema = z
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
