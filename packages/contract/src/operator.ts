import { z } from 'zod';
import { receiptPriceSchema } from './catalogue-prices.ts';
import { catalogueName } from './catalogue-models.ts';
import { providerSchema } from './catalogue-providers.ts';
import { aliasName, catalogueSchema, modelSchema } from './catalogue.ts';
import { amount, appSchema, moment } from './control.ts';
import { appId, paymentId, userId } from './identifiers.ts';
import { SIGN_IN_RESULTS } from './sign-in-results.ts';
import { before, earlierNext, nextPage, pageLimit } from './pages.ts';

/** Requests and answers of the operator plane (CP-05). Everything that moves money needs a reason and a key. */

const REASON_LENGTH_MAX = 500;
const KEY_LENGTH_MAX = 255;
const COUNT_MAX = 1_000_000;

/** Why an operator acts. It stays in the audit trail, so an empty one is refused. */
export const reason = z
  .string()
  .trim()
  .min(1)
  .max(REASON_LENGTH_MAX)
  .meta({ description: 'Why you do it. The audit trail keeps it.', examples: ['As agreed on the phone'] });
const count = z.int().min(1).max(COUNT_MAX);
/** An amount that moves. Zero is refused: an entry of nothing would only confuse the ledger's readers. */
export const money = amount.min(1).meta({ description: 'An amount in micros.', examples: [5_000_000] });
/** Makes an act of money repeatable: after a timeout, an operator sends the same request again. It has no spaces, so our own keys, which have one, never collide. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters, without spaces' })
  .max(KEY_LENGTH_MAX)
  .meta({
    description:
      'A key of visible ASCII characters. It counts once for each wallet and kind of act: a repeat changes nothing.',
    examples: ['invoice-17'],
  });

const rateLimit = z.strictObject({ perMinute: count, burst: count });

/** An app as operators see it: also its owner, its rights and the limits in force. */
export const anyAppSchema = appSchema
  .omit({ role: true })
  .extend({
    ownerEmails: z
      .array(z.string())
      .meta({ description: 'The e-mails of its owners. Those who have been owners longest come first.' }),
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
    .regex(/^(\*|(W\/)?"\d{1,18}")$/, { error: 'must be an `etag` of the catalogue' })
    .optional()
    .meta({ description: 'The `etag` of the catalogue that you read. If it has changed since, the answer is a 409.' }),
});
/** The reason as a query parameter, for requests whose body has no room for it. */
export const reasonQuerySchema = z.object({ reason: reason.optional() });
export const modelParamsSchema = z.object({ id: modelSchema.shape.id });
/** The path contains the identifier, so the body may leave it out. */
export const modelEntrySchema = modelSchema.partial({ id: true });
export const providerParamsSchema = z.object({ name: catalogueName });
/** One call of one token. Without a model, the first that the provider serves. */
export const testProviderSchema = z.strictObject({
  providerModel: z.string().min(1).max(256).optional(),
  reason: reason.optional(),
});
export const providerTestedSchema = z.object({
  provider: z.string(),
  providerModel: z.string(),
  origin: z.string().nullable().meta({ description: 'Where the call went. It is null for the simulator.' }),
  outcome: z.string().meta({
    description: '`answered`, or what the provider did instead. With `no-key`, nothing was sent.',
    examples: ['answered', 'unauthorized', 'throttled', 'timeout', 'outage'],
  }),
  message: z.string(),
  status: z.int().nullable().meta({ description: 'The HTTP status of a refusal. It is null if there was none.' }),
  firstByteMs: z.int().nullable(),
  totalMs: z.int(),
  promptTokens: z
    .int()
    .nullable()
    .meta({ description: 'What the provider reported. It is null if it reported nothing.' }),
  completionTokens: z.int().nullable(),
  costMicros: z.int().nullable().meta({
    description: 'What you pay the provider, in micros, by the catalogue. No wallet is charged.',
  }),
});
export const aliasParamsSchema = z.object({ alias: aliasName });
export const aliasTargetSchema = z.strictObject({ target: z.string().max(128) });
export const aliasSchema = z.object({ alias: z.string(), target: z.string() });
/** The prices of a model, the newest first. */
export const priceHistorySchema = z.object({
  prices: z.array(
    z.object({
      state: z.enum(['past', 'current', 'future', 'withdrawn']).meta({
        description: 'A price is `withdrawn` if it was set for later and taken back before that time.',
      }),
      from: moment.meta({ description: 'When the price came into force, or will come into force.' }),
      until: moment.nullable().meta({ description: 'When it ended, or will end. It is null if no end is known.' }),
      provider: z.string().nullable().meta({
        description: 'The provider with this price. It is null in old prices, which named none.',
      }),
      providerModel: z.string().nullable(),
      price: receiptPriceSchema,
    }),
  ),
});
export { catalogueSchema, modelSchema, providerSchema };

export const operatorWalletParamsSchema = z.object({ appId, userId });
/** A wallet for a user who agreed elsewhere. A first credit needs a key, because a retry must not credit twice. */
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
/** Money into or out of a wallet. The reason is required here: money never moves without one. */
export const movementSchema = z.strictObject({ amountMicros: money, reason, idempotencyKey });
export const refundSchema = movementSchema.extend({
  paymentId: paymentId.optional().meta({
    description:
      'Makes the payment processor pay this payment back. The refund is booked when it has done so. Leave it out for money that you have returned by other means. A refund that you make at the processor itself is booked without this call.',
  }),
});
/** Lifts a suspension. `writeOff` gives up a shortfall, so it must be said and is never the default. */
export const reinstateSchema = z.strictObject({ writeOff: z.boolean().default(false), reason });

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
export const paymentListSchema = z.object({
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
export const walletPageSchema = z.strictObject({
  before: earlierNext(/^(\d{1,18}|[1-9]\d{0,8}\.[1-9]\d{0,17})$/),
  limit: pageLimit(1_000, 1_000),
});
/** A wallet with its holds and entries, all read in one snapshot, so that the figures agree with each other. Entries of other cells never change. */
export const walletDetailsSchema = z.object({
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

/** The result of the ledger check (WA-09). `ok` is true only if nothing differs. */
export const ledgerCheckSchema = z.object({
  ok: z.boolean(),
  wallets: z.int(),
  entries: z.int(),
  differences: z
    .array(z.object({ rule: z.string(), walletId: z.string(), expected: z.string(), found: z.string() }))
    .meta({
      description:
        'The first 1,000 differences. Figures are text, because one may be too large for an exact JSON number.',
    }),
});

export const auditPageSchema = z.strictObject({
  before,
  limit: pageLimit(500, 100),
});
const facts = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ description: 'The fields that the act is about, never a secret. It is null if there are none.' });
const address = z.string().nullable().meta({
  description: 'The network address of the caller. It is null if it is not known, and after `PURSER_SIGN_IN_DAYS`.',
});
export const auditEntrySchema = z.object({
  at: moment,
  actor: z.string(),
  actorName: z.string().nullable().meta({ description: 'The e-mail of the account at that time.' }),
  from: address,
  action: z.string(),
  subject: z.string(),
  reason: z.string().nullable(),
  amountMicros: amount
    .nullable()
    .meta({ description: 'The money that the act moved, in micros. It is null if it moved none.' }),
  before: facts,
  after: facts,
});
export const auditListSchema = z.object({ entries: z.array(auditEntrySchema), next: nextPage('before') });

/** The sign-ins, counted by the minute. */
export const signInListSchema = z.object({
  signIns: z.array(
    z.object({
      minute: moment,
      who: z.string().nullable().meta({ description: 'The account or identity. It is null if it is not known.' }),
      result: z.enum(SIGN_IN_RESULTS),
      from: address,
      count: z.int().min(1),
    }),
  ),
  next: nextPage('before'),
});
export const signInPageSchema = auditPageSchema.extend({
  who: z.string().max(64).optional().meta({ description: 'Lists only sign-ins of this account or identity.' }),
});
export const activityPageSchema = auditPageSchema.extend({
  action: z
    .string()
    .regex(/^[a-z-]+(\.[a-z-]+)+$/, { error: 'must be an action, such as `key.create`' })
    .max(64)
    .optional()
    .meta({ description: 'Lists only acts of this kind, such as `key.create`.' }),
});
export const ownAuditPageSchema = auditPageSchema.extend({
  appId: appId.optional().meta({ description: 'Lists only acts on this app.' }),
});
