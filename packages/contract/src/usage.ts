import { z } from 'zod';
import { amount, moment } from './control.ts';
import { receiptPriceSchema } from './catalogue-prices.ts';
import { appId, userId } from './identifiers.ts';
import { nextPage, pageLimit } from './pages.ts';

/** Usage and receipts, for app owners (CP-04). */

/** A day of this millennium, like the months of `GET /usage/summary` (BI-03). */
export const usageDay = z.iso
  .date()
  .regex(/^2/, { error: 'must be a day from the year 2000 on' })
  .meta({ description: 'A day in UTC, such as `2026-11-30`.' });
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
  from: usageDay.optional().meta({ description: 'The first day, in UTC. The default is the first of this month.' }),
  to: usageDay.optional().meta({ description: 'The day after the last one, in UTC. The default is tomorrow.' }),
  groupBy: groupBy
    .prefault('day,model,user')
    .meta({ description: 'What rows are grouped by: any of `day`, `model` and `user`, separated by commas.' }),
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
    next: nextPage('after'),
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
    outcome: z.enum(['answered', 'abandoned', 'failed', 'expired']).meta({
      description:
        'How the call ended: it was `answered`, or `abandoned` by its caller; it `failed` at the provider, or `expired` because its gateway died.',
    }),
    estimated: z
      .boolean()
      .meta({ description: 'Whether the service counted tokens itself, because the provider did not report them.' }),
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
          '`reasoning` is a part of `completion`. The other counts are absent if they are 0: `cacheWriteLong` (written to a cache for longer), `audioInput` and `imageInput` are further parts of `prompt`, `audioOutput` and `imageOutput` of `completion`. No token counts in two parts.',
      }),
    searches: z
      .int()
      .optional()
      .meta({ description: 'The number of web searches that the provider made. It is absent if there were none.' }),
    price: receiptPriceSchema.nullable().meta({
      description: 'The price that was in force when the call began. It is null if the gateway died during the call.',
    }),
    heldMicros: amount.meta({ description: 'What was on hold for the call, in micros.' }),
    chargedMicros: amount.meta({ description: 'What the call was charged, in micros.' }),
    releasedMicros: amount.meta({ description: 'What was on hold and not charged, in micros.' }),
    late: z.literal(true).optional().meta({
      description:
        'The call was charged after its hold had been released, because the gateway that answered it was cut off. Its wallet paid what it could. It is absent for all other calls.',
    }),
    session: z.string().optional().meta({
      description:
        'The session that a coding agent named in a header of the call. It is absent if none did, and once calls of that time cannot be looked up any more.',
    }),
    wire: z.string().optional().meta({
      description:
        'The wire by which a call of a session came: `chat`, `responses`, `messages` or `embeddings`. It is there when `session` is.',
    }),
  })
  .meta({ id: 'Receipt' });
/** What became of a chat call: also of one that was refused, failed or replayed, or that a test key made (CC-19). */
export const callTraceSchema = z
  .object({
    at: moment.meta({ description: 'When the call ended.' }),
    correlationId: z.string(),
    callId: z.string().nullable().meta({
      description:
        'The id of the call. It is null if the call was refused before it had one. A replay has the id of the call whose answer it repeats.',
    }),
    mode: z.enum(['live', 'sandbox']),
    userId: z.string().nullable(),
    model: z.string().nullable(),
    stream: z.boolean(),
    wire: z.string().nullable().meta({
      description:
        'The wire by which the call came: `chat`, `responses`, `messages` or `embeddings`. It is null for calls from before this was kept.',
    }),
    session: z.string().nullable().meta({
      description: 'The session that a coding agent named in a header of the call. It is null if none did.',
    }),
    outcome: z.enum(['answered', 'abandoned', 'failed', 'refused', 'replayed']),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status of the answer. It is null if the caller left before there was one.' }),
    code: z.string().nullable().meta({
      description:
        'The `code` of the error, including one that was the last event of a stream. It is null if there was no error.',
    }),
    param: z.string().nullable().meta({
      description:
        'The field at fault of a call that was refused as `BAD_REQUEST`, as its answer named it. It is null for all others.',
    }),
    message: z.string().nullable().meta({
      description:
        'The message of the answer that refused the call as `BAD_REQUEST`. It says nothing of the prompt. It is null for all others.',
    }),
    failure: z.string().nullable().meta({
      description:
        'How the provider failed the call: `throttled`, `too-long`, `rejected`, `unauthorized`, `refused`, `timeout`, `outage`, `malformed`, `too-large`, `cut`, `unsent` or `given-up`. It is null if no provider failed it, and for calls with a test key.',
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
  next: nextPage('after'),
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
  session: z
    .string()
    .max(128)
    .optional()
    .meta({ description: 'Lists only calls of this session, which coding agents name in a header.' }),
  model: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Lists only calls of this model: a resolved identifier, not an alias.' }),
  outcome: z.enum(['answered', 'abandoned', 'failed', 'refused', 'replayed']).optional(),
  code: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Lists only calls that ended with this `code`.', examples: ['PAYMENT_REQUIRED'] }),
  from: moment.optional().meta({ description: 'Lists only calls that ended at this moment or later.' }),
  to: moment.optional().meta({ description: 'Lists only calls that ended before this moment.' }),
  after: z.string().max(64).optional().meta({ description: 'The `next` of the previous page.' }),
  limit: pageLimit(100, 50),
});
/** The upstream that failed a call, for operators. */
const failedUpstreamSchema = z
  .object({
    provider: z.string(),
    providerModel: z.string(),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status of the provider. It is null if it sent none, or 200.' }),
  })
  .nullable()
  .meta({ description: 'The upstream that failed the call, the last one if several did. It is null if none did.' });
/** The search of operators for calls, in one app or in all. */
export const findAnyCallsSchema = z.strictObject({ ...callName, appId: appId.optional() });
export const anyFoundCallsSchema = z.object({
  hold: z
    .object({ appId: z.string(), userId: z.string(), amountMicros: amount, stream: z.boolean(), placedAt: moment })
    .nullable()
    .meta({ description: 'What the call holds now. It is null unless you name the `callId` of a running call.' }),
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
    .meta({
      description: 'The entries that the call made in its wallet. The list is empty unless you name a `callId`.',
    }),
  calls: z.array(
    z.object({
      appId: z.string(),
      ...receiptSchema.shape,
      upstream: z.object({ provider: z.string(), providerModel: z.string() }).nullable().meta({
        description:
          'The upstream that served the call. It is null if none did, and for calls from before this was recorded.',
      }),
    }),
  ),
  traces: z.array(z.object({ appId: z.string(), ...callTraceSchema.shape, upstream: failedUpstreamSchema })),
});
