import { z } from 'zod';
import { receiptPriceSchema } from './catalogue-prices.ts';
import { catalogueName } from './catalogue-models.ts';
import { providerSchema } from './catalogue-providers.ts';
import { aliasName, catalogueSchema, modelSchema } from './catalogue.ts';
import { amount, appSchema, moment } from './control.ts';
import { upstreamListSchema } from './upstreams.ts';

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
export const changeAnyAppSchema = z.strictObject({
  firstParty: z.boolean().optional(),
  rateLimit: rateLimit.optional(),
  maxStreamsPerUser: count.optional(),
  reason: reason.optional(),
});
export const reasonSchema = z.strictObject({ reason });

const catalogueHeadersSchema = z.looseObject({
  'if-match': z
    .string()
    .regex(/^(\*|(W\/)?"\d{1,18}")$/, { error: 'must be an `etag` of the catalogue' })
    .optional()
    .meta({ description: 'The `etag` of the catalogue that you read. If it has changed since, the answer is a 409.' }),
});
const providerTestedSchema = z.object({
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
/** The prices of a model, the newest first. */
const priceHistorySchema = z.object({
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
const model = z.object({ id: modelSchema.shape.id });
const alias = z.object({ alias: aliasName });
const provider = z.object({ name: catalogueName });
/** The reason is in the query, because the bodies are entries of the catalogue and `DELETE` has none. */
const EDIT = { query: z.object({ reason: reason.optional() }), headers: catalogueHeadersSchema };

/** What each route about the catalogue takes and answers. */
export const CATALOGUE_ROUTES = {
  'GET /operator/catalogue': { answer: catalogueSchema },
  'PUT /operator/catalogue': { ...EDIT, body: catalogueSchema, answer: catalogueSchema, config: { isLarge: true } },
  // The path contains the identifier, so the body may leave it out.
  'PUT /operator/models/{id}': { ...EDIT, params: model, body: modelSchema.partial({ id: true }), answer: modelSchema },
  'GET /operator/models/{id}/prices': { params: model, answer: priceHistorySchema },
  'DELETE /operator/models/{id}': { ...EDIT, params: model },
  'PUT /operator/aliases/{alias}': {
    ...EDIT,
    params: alias,
    body: z.strictObject({ target: z.string().max(128) }),
    answer: z.object({ alias: z.string(), target: z.string() }),
  },
  'DELETE /operator/aliases/{alias}': { ...EDIT, params: alias },
  'PUT /operator/providers/{name}': { ...EDIT, params: provider, body: providerSchema, answer: providerSchema },
  'DELETE /operator/providers/{name}': { ...EDIT, params: provider },
  /** One call of one token. Without a model, the first that the provider serves. */
  'POST /operator/providers/{name}/test': {
    params: provider,
    body: z.strictObject({ providerModel: z.string().min(1).max(256).optional(), reason: reason.optional() }),
    answer: providerTestedSchema,
  },
  'GET /operator/upstreams': { answer: upstreamListSchema },
} as const;
