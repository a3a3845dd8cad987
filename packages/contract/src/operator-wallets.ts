import { z } from 'zod';
import { amount, moment, pageLimit } from './control.ts';
import { appId, paymentId } from './identifiers.ts';
import { idempotencyKey, money, operatorWalletSchema } from './operator.ts';

/** Requests and answers about all wallets, and about acts before they are done, for operators (CP-05). */

const USER_LENGTH_MAX = 256;
const PLACE = /^[\w-]{1,600}$/;
export const cellName = z
  .string()
  .optional()
  .meta({ description: 'The cell that has it, if the service has several.' });

/** Micros in a query, which is text. */
const amountText = z
  .string()
  .regex(/^\d{1,16}$/, { error: 'must be a whole number of micros' })
  .transform(Number)
  .pipe(amount);

export const WALLET_STATUSES = ['connected', 'disconnected', 'suspended'] as const;
export const WALLET_SORTS = ['newest', 'oldest'] as const;

export const walletListQuerySchema = z
  .strictObject({
    appId: appId.optional(),
    userId: z
      .string()
      .max(USER_LENGTH_MAX)
      .optional()
      .meta({ description: 'Wallets whose user id begins with this, in the order of user ids.' }),
    status: z
      .enum(WALLET_STATUSES)
      .optional()
      .meta({ description: 'A wallet can be suspended and disconnected at once: it is in both lists.' }),
    openedFrom: moment.optional().meta({ description: 'Wallets that were opened at this moment or later.' }),
    openedBefore: moment.optional().meta({ description: 'Wallets that were opened before this moment.' }),
    minHeldMicros: amountText.optional().meta({ description: 'Wallets whose running calls hold at least this.' }),
    minBalanceMicros: amountText.optional(),
    maxBalanceMicros: amountText.optional(),
    sort: z.enum(WALLET_SORTS).optional().meta({ description: 'By when they were opened. `newest` by default.' }),
    after: z
      .string()
      .regex(PLACE, { error: 'must be the `next` of an earlier page' })
      .optional()
      .meta({ description: 'The `next` of the previous page.' }),
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
      'Pass it as `?after=` to get the next page. Null on the last page. A page can have fewer wallets than `limit`, or none, and a `next`: it has looked through 5,000 wallets of each cell.',
  }),
});

export const WALLET_ACTS = ['open', 'credit', 'refund', 'clawback', 'reinstate', 'release'] as const;

/** An act on a wallet that is not to be done: only what it would do is asked for. */
export const walletPreviewSchema = z
  .strictObject({
    act: z.enum(WALLET_ACTS),
    amountMicros: money.optional().meta({
      description: 'Needed for `credit`, `refund` and `clawback`. For `open`, the first credit.',
      examples: [5_000_000],
    }),
    spendCapMicros: amount.optional().meta({ description: 'For `open`.' }),
    paymentId: paymentId.optional().meta({ description: 'For `refund`, as in the act itself.' }),
    writeOff: z.boolean().default(false).meta({ description: 'For `reinstate`.' }),
    idempotencyKey: idempotencyKey.optional().meta({
      description: 'The key that the act will have. With a key that was used, nothing changes.',
      examples: ['invoice-17'],
    }),
  })
  .refine(({ act, amountMicros }) => amountMicros !== undefined || !['credit', 'refund', 'clawback'].includes(act), {
    path: ['amountMicros'],
    error: 'is required for this act',
  });

export const walletEffectsSchema = z
  .object({
    changes: z.boolean().meta({ description: 'False: the act would change nothing, for example because it was done.' }),
    needsSecondPerson: z
      .boolean()
      .meta({ description: 'The act is kept until a second operator confirms it. It then does this.' }),
    before: operatorWalletSchema.nullable().meta({ description: 'The wallet now. Null if the act opens it.' }),
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
      .meta({ description: 'What the act writes into the ledger, in this order.' }),
  })
  .meta({ id: 'WalletEffects' });
