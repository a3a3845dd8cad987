import { z } from 'zod';
import { amount, moment } from './control.ts';
import { ERROR_STATUS, ERROR_TYPE, type ErrorCode, UPSTREAM_ERROR_TYPES } from './errors.ts';
import { shownText } from './shown-text.ts';

/**
 * Answers of the data plane (`docs/CLAUSES.md`). The parameters of a chat completion are not here: the gateway checks
 * them against its own table, because providers differ in what they accept.
 */

const codes = Object.keys(ERROR_STATUS) as ErrorCode[];

/**
 * The error envelope (ER-01, ER-07). `error.type`, `error.param` and the inner `topupUrl` are there for stock clients,
 * which drop the fields outside of `error`.
 */
export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(codes),
      message: z.string().meta({ description: 'A text for people. Its words may change, so decide by `code`.' }),
      correlationId: z.string().meta({ description: 'The same as the header `x-correlation-id`.' }),
      type: z.enum([...new Set([...Object.values(ERROR_TYPE), ...UPSTREAM_ERROR_TYPES])]),
      param: z.string().nullable().meta({ description: 'The field at fault, or null if no field is.' }),
      topupUrl: z.string().optional(),
    }),
    topupUrl: z.string().optional().meta({
      description:
        'The address of the page where the user can pay, or raise the cap. It is absent if neither would help.',
    }),
  })
  .meta({ id: 'Error', description: 'The form of every error of every route.' });

const walletFields = {
  userId: z.string(),
  balanceMicros: amount,
  reservedMicros: amount.meta({ description: 'What is set aside for running calls, in micros.' }),
  availableMicros: amount.meta({
    description: 'What new calls can use, in micros: the balance less what is set aside.',
  }),
  currency: z.string(),
  spendCapMicros: amount.nullable().meta({
    description:
      'The most that the user lets the app spend in a calendar month (UTC), in micros. It is null if they set no cap.',
  }),
  spentThisMonthMicros: amount.meta({
    description: 'What calls of this calendar month (UTC) were charged, in micros.',
  }),
  status: z
    .enum(['active', 'suspended'])
    .meta({ description: 'A `suspended` wallet pays for no call until an operator lifts the suspension.' }),
};
export const balanceSchema = z.object(walletFields).meta({ id: 'Balance' });

export const monthQuerySchema = z.strictObject({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month, such as `2026-01`' })
    .optional()
    .meta({ description: 'A month in UTC, such as `2026-01`. The default is the current month.' }),
});
/** The figures that a summary has as totals and for each model. */
const usageFigures = {
  requests: z.int().min(0),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
};
export const usageSummarySchema = z
  .object({
    userId: z.string(),
    currency: z.string(),
    periodStart: moment,
    periodEnd: moment,
    ...usageFigures,
    totalTokens: z.int().min(0),
    chargedMicros: amount,
    models: z.array(z.object({ model: z.string(), ...usageFigures, chargedMicros: amount })),
  })
  .meta({ id: 'UsageSummary' });

const STATE_LENGTH_MAX = 512;
const LABEL_LENGTH_MAX = 80;
/** What an app sends for a consent link. A person will read `userLabel` on our page, so its text is restricted. */
export const connectRequestSchema = z
  .strictObject({
    redirectUri: z.string().meta({
      description:
        'The address to which the user returns. It must match one of the app’s `redirectUris`, character by character.',
      examples: ['https://app.example/back'],
    }),
    state: z
      .string()
      .max(STATE_LENGTH_MAX)
      .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
      .optional()
      .meta({ description: 'A text of your own, which is added to the query of `redirectUri`.', examples: ['k3Jd8'] }),
    userLabel: shownText(LABEL_LENGTH_MAX)
      .optional()
      .meta({
        description:
          'A text that the page shows to the person who connects, so that they know which account of your app it is.',
        examples: ['anna@app.example'],
      }),
  })
  .meta({ id: 'ConnectRequest' });
export const connectLinkSchema = z
  .object({
    connectUrl: z.string().meta({ description: 'Send the user’s browser to this address.' }),
    expiresAt: moment,
  })
  .meta({ id: 'ConnectLink' });

/** A model with four fields and no more (MO-01). Prices and providers are nobody's business here. */
export const modelObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.literal(0),
    owned_by: z.string().meta({ description: 'The family of the model: its identifier up to the first dot.' }),
  })
  .meta({ id: 'Model' });
export const modelListSchema = z
  .object({ object: z.literal('list'), data: z.array(modelObjectSchema) })
  .meta({ id: 'ModelList' });

/** Micros per million tokens, for the app: with the operator's margin, rounded up to a whole micro. */
const rates = {
  inputMicrosPerMillion: amount,
  cachedInputMicrosPerMillion: amount,
  cacheWriteMicrosPerMillion: amount,
  cacheWriteLongMicrosPerMillion: amount,
  audioInputMicrosPerMillion: amount,
  imageInputMicrosPerMillion: amount,
  outputMicrosPerMillion: amount,
  reasoningMicrosPerMillion: amount,
  audioOutputMicrosPerMillion: amount,
  imageOutputMicrosPerMillion: amount,
};
const shownPrice = z
  .object({
    tiers: z.array(z.object({ aboveInputTokens: z.int().min(0), ...rates })).meta({
      description:
        'The prices by the length of the prompt. The last tier whose `aboveInputTokens` the prompt exceeds applies to the whole call.',
    }),
    microsPerCall: amount,
    microsPerSearch: amount,
  })
  .meta({ id: 'ShownPrice' });
export const priceListSchema = z
  .object({
    currency: z.string(),
    data: z.array(
      z.object({
        id: z.string().meta({ description: 'A name that a call may send as `model`.' }),
        model: z
          .string()
          .meta({ description: 'The resolved identifier: the same as `id`, or the model to which an alias points.' }),
        contextTokens: z.int(),
        maxOutputTokens: z.int(),
        defaultOutputTokens: z.int(),
        parameters: z.array(z.string()).nullable().meta({
          description:
            'The parameters that a call may have besides `model` and `messages`. If it is null, the model takes every documented parameter.',
        }),
        prices: z.array(shownPrice).meta({
          description:
            'The prices by which a call may be charged. That of the provider that is asked first comes first.',
        }),
      }),
    ),
  })
  .meta({ id: 'PriceList' });
export const modelNameParamsSchema = z.object({ model: z.string() });
export const callIdParamsSchema = z.object({
  callId: z.string().meta({ description: 'The `x-service-call-id` of the answer, or the `call-id` of a stream.' }),
});

/** The token counts of the provider. The schema is loose, because providers add details and clients may want them. */
const tokenUsage = z
  .looseObject({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0), total_tokens: z.int().min(0) })
  .meta({ id: 'TokenUsage' });
/** Every client knows these (CC-01). */
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const head = { id: z.string(), created: z.int(), model: z.string() };
const OPEN = 'Fields that the provider adds are passed on.';

/** A buffered answer. Loose objects: the gateway passes on fields that a provider adds, and the document says so. */
export const completionSchema = z
  .looseObject({
    ...head,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.string(),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
        }),
        finish_reason: finishReason,
      }),
    ),
    usage: tokenUsage
      .nullable()
      .optional()
      .meta({ description: 'The token counts that the provider reports, if it does.' }),
  })
  .meta({ id: 'ChatCompletion', description: OPEN });

/** One event of a streamed answer. `choices` may be empty: the chunk with the usage has none. */
const chunkSchema = z
  .looseObject({
    ...head,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: finishReason.nullable() }),
    ),
    usage: tokenUsage.nullable().optional(),
    charge_micros: amount
      .optional()
      .meta({ description: 'What the call was charged, in micros. Only the chunk with the usage has it.' }),
  })
  .meta({ id: 'ChatCompletionChunk', description: `The data of one event. ${OPEN}` });

/** The last event of a stream that failed: an error, and no chunk to anybody (ER-06). */
const streamErrorSchema = errorSchema
  .extend({ choices: z.string().meta({ description: 'The message, so that no reader takes this for a chunk.' }) })
  .meta({ id: 'StreamError', description: 'The last event of a stream that failed.' });

export const eventSchema = z.union([chunkSchema, streamErrorSchema]);

/** An answer of the Responses interface. Loose objects, as of chat completions. */
export const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: z.string(),
    output: z
      .array(z.looseObject({ type: z.string() }))
      .meta({ description: 'Messages, reasoning and calls of tools.' }),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
      .nullable()
      .meta({ description: 'The counts by which the call is charged.' }),
    charge_micros: amount.optional().meta({ description: 'What the call cost, in the last event of a stream.' }),
  })
  .meta({ id: 'Response', description: OPEN });

/** One event of a streamed answer of the Responses interface. */
export const responseEventSchema = z
  .looseObject({ type: z.string(), sequence_number: z.int(), response: responseSchema.optional() })
  .meta({ id: 'ResponseEvent', description: OPEN });

/** An answer of the Messages interface. Loose objects, as of chat completions. */
export const messageSchema = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })).meta({ description: 'Texts, thoughts and calls of tools.' }),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int() })
      .meta({ description: 'The counts by which the call is charged. Tokens from a cache lie beside `input_tokens`.' }),
  })
  .meta({ id: 'Message', description: OPEN });

/** An error of the Messages interface: the form that its clients read, with all fields of the envelope in it. */
export const messageErrorSchema = z
  .object({
    type: z.literal('error'),
    error: errorSchema.shape.error.extend({
      type: z.string().meta({ description: 'The word of this interface.' }),
      serviceType: z.string().meta({ description: 'The `type` of the same error on other routes.' }),
    }),
    request_id: z.string().meta({ description: 'The same as `error.correlationId`.' }),
    topupUrl: z.string().optional(),
  })
  .meta({ id: 'MessageError', description: 'The form of every error of Messages.' });

/** One event of a streamed answer of the Messages interface. */
export const messageEventSchema = z
  .looseObject({ type: z.string(), message: messageSchema.optional() })
  .meta({ id: 'MessageEvent', description: OPEN });
export const tokenCountSchema = z
  .object({ input_tokens: z.int(), is_estimated: z.boolean() })
  .meta({ id: 'TokenCount' });

/** The body of a processor's webhook. It is described only: the service checks its signature, on the raw bytes. */
export const processorWebhookSchema = z
  .looseObject({ id: z.string(), type: z.string() })
  .meta({ id: 'ProcessorWebhook' });
export const webhookReceivedSchema = z.object({ received: z.literal(true) });
export const healthSchema = z.object({ status: z.literal('ok') });
export const readySchema = z.object({ status: z.literal('ready') });
export const unreadySchema = z.object({ status: z.literal('unavailable'), reason: z.string() });
