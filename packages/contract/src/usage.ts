import { z } from 'zod';
import { amount, moment, pageLimit } from './control.ts';
import { receiptPriceSchema } from './catalogue-prices.ts';
import { appId, userId } from './identifiers.ts';

/** Usage and receipts, for app owners (CP-04). */

/** A day of this millennium, like the months of `GET /usage/summary` (BI-03). */
export const usageDay = z.iso
  .date()
  .regex(/^2/, { error: 'must be a day from the year 2000 on' })
  .meta({ description: 'A UTC day, such as `2026-11-30`.' });
const GROUPS = ['day', 'model', 'user'] as const;

/** A list in one query parameter. Repeats and order make no difference. */
const groupBy = z
  .string()
  .regex(/^(day|model|user)(,(day|model|user))*$/, { error: 'must be a list of `day`, `model` and `user`' })
  .transform((text) => {
    const chosen = new Set(text.split(','));
    return GROUPS.filter((group) => chosen.has(group));
  })
  .pipe(z.array(z.enum(GROUPS)));

/** A report's query. The defaults give the current month, so that a first call needs no parameters. */
export const usageQuerySchema = z.strictObject({
  from: usageDay.optional().meta({ description: 'The first day. The first of this month if you leave it out.' }),
  to: usageDay.optional().meta({ description: 'The day after the last one. Tomorrow if you leave it out.' }),
  groupBy: groupBy.prefault('day,model,user').meta({ description: 'A list of `day`, `model` and `user`.' }),
  format: z.enum(['json', 'csv']).default('json'),
  after: z.string().max(2_048).optional().meta({ description: 'The `next` of the previous page.' }),
  limit: pageLimit(10_000, 1_000),
});

/** A page of a report. A row has only the names that the report is grouped by. */
export const usageReportSchema = z
  .object({
    rows: z.array(
      z.object({
        day: z.string().optional(),
        model: z.string().optional(),
        userId: z.string().optional(),
        requests: z.int(),
        promptTokens: z.int(),
        completionTokens: z.int(),
        chargedMicros: amount,
      }),
    ),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Pass it as `?after=` to get the next page. Null on the last page.' }),
  })
  .meta({ id: 'UsageReport' });

/**
 * What a finished call used and cost. It contains the prices that applied, because the catalogue may have changed since,
 * and nothing of the prompt or the answer.
 */
export const receiptSchema = z
  .object({
    callId: z.string(),
    correlationId: z.string().nullable(),
    userId: z.string(),
    model: z.string().nullable(),
    at: moment,
    outcome: z.enum(['answered', 'abandoned', 'failed', 'expired']),
    estimated: z.boolean(),
    tokens: z
      .object({
        prompt: z.int(),
        cached: z.int(),
        cacheWrite: z.int(),
        completion: z.int(),
        reasoning: z.int(),
        cacheWriteLong: z.int().optional(),
        audioInput: z.int().optional(),
        imageInput: z.int().optional(),
        audioOutput: z.int().optional(),
        imageOutput: z.int().optional(),
      })
      .meta({
        description:
          '`cached` and `cacheWrite` are parts of `prompt`: read from the cache of the provider, and written to it. ' +
          '`reasoning` is a part of `completion`. The others are there if they are not 0: `cacheWriteLong` (written to a cache for longer), `audioInput` and `imageInput` are further parts of `prompt`, `audioOutput` and `imageOutput` of `completion`. No token is in two parts.',
      }),
    searches: z.int().optional().meta({ description: 'Searches of the web by the provider, if there were any.' }),
    price: receiptPriceSchema.nullable(),
    heldMicros: amount,
    chargedMicros: amount,
    releasedMicros: amount,
    late: z.literal(true).optional().meta({
      description:
        'The call was charged after its hold had been released, because the gateway that answered it was cut off. Its wallet paid what it could.',
    }),
  })
  .meta({ id: 'Receipt' });
/** What became of a chat call: also of one that was refused, failed or replayed, or that a test key made (CC-19). */
export const callTraceSchema = z
  .object({
    at: moment.meta({ description: 'When the call ended.' }),
    correlationId: z.string(),
    callId: z.string().nullable().meta({
      description: 'Null if the call was refused before it had an id. Of a replay: the call that was answered.',
    }),
    mode: z.enum(['live', 'sandbox']),
    userId: z.string().nullable(),
    model: z.string().nullable(),
    stream: z.boolean(),
    outcome: z.enum(['answered', 'abandoned', 'failed', 'refused', 'replayed']),
    status: z.int().nullable().meta({ description: 'Null if the caller left before there was an answer.' }),
    code: z
      .string()
      .nullable()
      .meta({ description: 'The `code` of the error, also of one in the last frame of a stream.' }),
    failure: z.string().nullable().meta({
      description:
        'How the provider failed the call: `throttled`, `too-long`, `rejected`, `unauthorized`, `refused`, `timeout`, `outage`, `malformed`, `too-large`, `cut`, `unsent` or `given-up`. Null if it did not, or with a test key.',
    }),
    chargedMicros: amount,
    promptTokens: z.int(),
    completionTokens: z.int(),
    durationMs: z.int(),
  })
  .meta({ id: 'CallTrace' });
export const foundCallsSchema = z.object({ calls: z.array(receiptSchema), traces: z.array(callTraceSchema) });
export const latestCallsSchema = z.object({
  traces: z.array(callTraceSchema),
  next: z.string().nullable().meta({ description: '`after` of the next page. Null when there are no more.' }),
});
export const receiptParamsSchema = z.object({ appId, callId: z.string() });
const callName = {
  correlationId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, {
      error: 'must be a correlation id: 1 to 128 letters, digits, dots, underscores, colons or dashes',
    })
    .optional(),
  callId: z.string().max(64).optional().meta({ description: 'The `x-service-call-id` of the answer.' }),
};
/** One of the two ids of an answer. */
export const findCallsSchema = z.strictObject(callName);
/** What the latest calls are narrowed down by. */
export const latestCallsQuerySchema = z.strictObject({
  mode: z.enum(['live', 'sandbox']).default('live'),
  userId: userId.optional(),
  model: z.string().max(200).optional().meta({ description: 'A resolved identifier, not an alias.' }),
  outcome: z.enum(['answered', 'abandoned', 'failed', 'refused', 'replayed']).optional(),
  code: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'The `code` of the error.', examples: ['PAYMENT_REQUIRED'] }),
  from: moment.optional().meta({ description: 'Calls that ended at this moment or later.' }),
  to: moment.optional().meta({ description: 'Calls that ended before this moment.' }),
  after: z.string().max(64).optional().meta({ description: 'The `next` of the page before.' }),
  limit: pageLimit(100, 50),
});
/** The upstream that failed a call, for operators. */
const failedUpstreamSchema = z
  .object({
    provider: z.string(),
    providerModel: z.string(),
    status: z.int().nullable().meta({ description: 'The provider’s HTTP status, if it sent one other than 200.' }),
  })
  .nullable()
  .meta({ description: 'The upstream that failed the call. Of several, the last.' });
/** The search of operators for calls, in one app or in all. */
export const findAnyCallsSchema = z.strictObject({ ...callName, appId: appId.optional() });
export const anyFoundCallsSchema = z.object({
  hold: z
    .object({ appId: z.string(), userId: z.string(), amountMicros: amount, stream: z.boolean(), placedAt: moment })
    .nullable()
    .meta({ description: 'What the call holds now. Null unless you name the `callId` of a running call.' }),
  entries: z
    .array(
      z.object({
        seq: z.int(),
        kind: z.string(),
        debit: z.string(),
        credit: z.string(),
        amountMicros: amount,
        balanceAfterMicros: amount,
        at: moment,
      }),
    )
    .meta({ description: 'What the call booked in its wallet. Empty unless you name a `callId`.' }),
  calls: z.array(
    z.object({
      appId: z.string(),
      ...receiptSchema.shape,
      upstream: z
        .object({ provider: z.string(), providerModel: z.string() })
        .nullable()
        .meta({ description: 'Who served the call. Null if nobody did, and for calls from before this was kept.' }),
    }),
  ),
  traces: z.array(z.object({ appId: z.string(), ...callTraceSchema.shape, upstream: failedUpstreamSchema })),
});
