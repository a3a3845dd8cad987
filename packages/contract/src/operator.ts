import { z } from 'zod';
import { aliasName, catalogueSchema, modelSchema } from './catalogue.ts';
import { accountSchema, amount, appSchema, email, moment, name, newPassword, pageLimit } from './control.ts';
import { accountId, appId, paymentId, userId } from './identifiers.ts';

/** What the operator plane takes and gives (CP-05, interfaces.md). */

const REASON_LENGTH_MAX = 500;
const KEY_LENGTH_MAX = 255;
const COUNT_MAX = 1_000_000;

const reason = z
  .string()
  .trim()
  .min(1)
  .max(REASON_LENGTH_MAX)
  .meta({ description: 'For the audit trail.', examples: ['As agreed on the phone'] });
const role = z.enum(['owner', 'operator']);
const count = z.int().min(1).max(COUNT_MAX);
const money = amount.min(1).meta({ description: 'Micros: millionths of the currency.', examples: [5_000_000] });
const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/)
  .max(KEY_LENGTH_MAX)
  .meta({
    description: 'Visible ASCII characters. Counts once for each wallet and act: a repeat changes nothing.',
    examples: ['invoice-17'],
  });

const rateLimit = z.strictObject({ perMinute: count, burst: count });

export const anyAppSchema = appSchema
  .extend({
    ownerEmail: z.string(),
    firstParty: z.boolean(),
    rateLimit: z.object({ perMinute: z.int(), burst: z.int() }),
    maxStreamsPerUser: z.int(),
  })
  .meta({ id: 'AnyApp' });
export const anyAppListSchema = z.object({ apps: z.array(anyAppSchema) });
export const appQuerySchema = z.strictObject({ query: z.string().max(256).default('') });
export const changeAnyAppSchema = z.strictObject({
  firstParty: z.boolean().optional(),
  rateLimit: rateLimit.optional(),
  maxStreamsPerUser: count.optional(),
  reason: reason.optional(),
});
export const reasonSchema = z.strictObject({ reason });

export const catalogueHeadersSchema = z.looseObject({
  'if-match': z
    .string()
    .regex(/^(\*|(W\/)?"\d{1,18}")$/, { error: 'is no `etag` of the catalogue' })
    .optional()
    .meta({ description: 'The `etag` that the file was read with: 409 where the catalogue has changed since.' }),
});
/** For bodies that have no room for one. */
export const reasonQuerySchema = z.object({ reason: reason.optional() });
export const modelParamsSchema = z.object({ id: modelSchema.shape.id });
/** The identifier is the path's; in the body it may be left out. */
export const modelEntrySchema = modelSchema.partial({ id: true });
export const aliasParamsSchema = z.object({ alias: aliasName });
export const aliasTargetSchema = z.strictObject({ target: z.string().max(128) });
export const aliasSchema = z.object({ alias: z.string(), target: z.string() });
export { catalogueSchema, modelSchema };

const before = z
  .string()
  .regex(/^\d{1,18}$/, { error: 'is no `next` of a page' })
  .optional()
  .meta({ description: 'A `next` of the page before.' });
const next = z.string().nullable().meta({ description: 'The next page: `?before=` this. Null on the last one.' });

export const operatorWalletParamsSchema = z.object({ appId, userId });
export const openWalletSchema = z
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
export const movementSchema = z.strictObject({ amountMicros: money, reason, idempotencyKey });
export const refundSchema = movementSchema.extend({
  paymentId: paymentId.optional().meta({
    description:
      'Asks the payment processor to pay this payment back; booked once the processor has. Leave it out for money that was returned outside: what is refunded at the processor itself is booked without this call.',
  }),
});
export const reinstateSchema = z.strictObject({ writeOff: z.boolean().default(false), reason });

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
    shortfallMicros: amount,
  })
  .meta({ id: 'OperatorWallet' });
export const paymentListSchema = z.object({
  payments: z
    .array(
      z.object({
        paymentId: z.string(),
        amountMicros: amount,
        currency: z.string(),
        state: z.enum(['credited', 'kept']).meta({ description: 'Kept: it is in no wallet, and somebody must look.' }),
        anomaly: z
          .enum(['amount', 'currency', 'second', 'no_wallet', 'too_much'])
          .nullable()
          .meta({ description: 'What was other than it should be.' }),
        refundedMicros: amount.meta({ description: 'Paid back, or on its way.' }),
        disputedMicros: amount.meta({ description: 'Taken by a bank and not given back.' }),
        paidAt: moment,
      }),
    )
    .meta({ description: 'The newest 100.' }),
});
export const walletPageSchema = z.strictObject({
  before,
  limit: pageLimit(1_000, 1_000),
});
export const walletDetailsSchema = z.object({
  wallet: operatorWalletSchema,
  holds: z
    .array(z.object({ callId: z.string(), amountMicros: amount, stream: z.boolean(), placedAt: moment }))
    .meta({ description: 'The oldest 1,000.' }),
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
    }),
  ),
  next,
});

export const ledgerCheckSchema = z.object({
  ok: z.boolean(),
  wallets: z.int(),
  entries: z.int(),
  differences: z
    .array(z.object({ rule: z.string(), walletId: z.string(), expected: z.string(), found: z.string() }))
    .meta({
      description: 'The first 1,000. Figures are text: a broken one may be larger than JSON numbers are exact.',
    }),
});

export const auditPageSchema = z.strictObject({
  before,
  limit: pageLimit(500, 100),
});
export const auditListSchema = z.object({
  entries: z.array(
    z.object({
      at: moment,
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      reason: z.string().nullable(),
    }),
  ),
  next,
});

export const accountPageSchema = z.strictObject({
  after: z.string().max(64).optional().meta({ description: 'A `next` of the page before.' }),
  limit: pageLimit(1_000, 1_000),
});
export const anyAccountSchema = accountSchema.extend({ disabled: z.boolean() }).meta({ id: 'AnyAccount' });
export const accountParamsSchema = z.object({ accountId });
export const changeAnyAccountSchema = z
  .strictObject({ role: role.optional(), disabled: z.boolean().optional(), reason })
  .refine((body) => (body.role === undefined) !== (body.disabled === undefined), {
    path: ['role'],
    error: 'one of `role` and `disabled` is needed, and not both: each is an act of its own',
  })
  .meta({ description: 'Ends every session of the account.' });
export const accountListSchema = z.object({
  accounts: z.array(anyAccountSchema),
  next: z.string().nullable().meta({ description: 'The next page: `?after=` this. Null on the last one.' }),
});
export const newAnyAccountSchema = z.strictObject({
  email,
  password: newPassword,
  name: name.optional(),
  role,
});
