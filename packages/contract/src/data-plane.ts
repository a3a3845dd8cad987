import { z } from 'zod';
import { amount, moment } from './control.ts';
import { ERROR_STATUS, ERROR_TYPE, type ErrorCode } from './errors.ts';

/** What the data plane answers (seed, interfaces.md). What it takes of a chat completion is the gateway's own table. */

const codes = Object.keys(ERROR_STATUS) as ErrorCode[];

export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum(codes),
      message: z.string().meta({ description: 'For people. Its words may change: decide by `code`.' }),
      correlationId: z.string(),
      type: z.enum([...new Set(Object.values(ERROR_TYPE))]),
      param: z.string().nullable().meta({ description: 'The field at fault, where there is one.' }),
      topupUrl: z.string().optional(),
    }),
    topupUrl: z.string().optional().meta({ description: 'Where the end user can mend it.' }),
  })
  .meta({ id: 'Error', description: 'Every error of every plane.' });

const walletFields = {
  userId: z.string(),
  balanceMicros: amount,
  reservedMicros: amount.meta({ description: 'Micros: set aside for calls that run.' }),
  availableMicros: amount.meta({ description: 'Micros: the balance without what is set aside.' }),
  currency: z.string(),
  spendCapMicros: amount.nullable(),
  spentThisMonthMicros: amount,
  status: z.enum(['active', 'suspended']),
};
export const balanceSchema = z.object(walletFields).meta({ id: 'Balance' });

export const monthQuerySchema = z.strictObject({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
    .optional()
    .meta({ description: 'A UTC month, as 2026-01. Left out: this one.' }),
});
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
/** No sign, or one that turns the text around it: what a person reads would not be what was sent. */
const MISLEADING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** What a reader sees something of. */
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

export const connectRequestSchema = z
  .strictObject({
    redirectUri: z.string().meta({
      description: 'Where the user goes back to: one of the app’s `redirectUris`, character by character.',
      examples: ['https://app.example/back'],
    }),
    state: z
      .string()
      .max(STATE_LENGTH_MAX)
      .regex(/^\P{Cc}*$/u, { error: 'must hold no control characters' })
      .optional()
      .meta({ description: 'Given back with the redirect.', examples: ['k3Jd8'] }),
    userLabel: z
      .string()
      .trim()
      .min(1)
      .max(LABEL_LENGTH_MAX)
      .refine((text) => !MISLEADING.test(text), {
        error: 'must hold no control characters, and none that change the direction of text',
      })
      .refine((text) => SEEN.test(text), { error: 'must hold something to read' })
      .optional()
      .meta({
        description: 'Shown to the person who connects, to tell which account of your app it is.',
        examples: ['anna@app.example'],
      }),
  })
  .meta({ id: 'ConnectRequest' });
export const connectLinkSchema = z
  .object({
    connectUrl: z.string().meta({ description: 'Send the browser of the user there.' }),
    expiresAt: moment,
  })
  .meta({ id: 'ConnectLink' });

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
export const modelNameParamsSchema = z.object({ model: z.string() });

const tokenUsage = z
  .looseObject({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0), total_tokens: z.int().min(0) })
  .meta({ id: 'TokenUsage' });
const head = { id: z.string(), created: z.int(), model: z.string() };
const OPEN = 'What the provider adds is passed on.';

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
        finish_reason: z.string().nullable(),
      }),
    ),
    usage: tokenUsage.nullable().optional().meta({ description: 'Where the provider tells it.' }),
  })
  .meta({ id: 'ChatCompletion', description: OPEN });

export const chunkSchema = z
  .looseObject({
    ...head,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: z.string().nullable().optional() }),
    ),
    usage: tokenUsage.nullable().optional(),
  })
  .meta({ id: 'ChatCompletionChunk', description: `The data of one event. ${OPEN}` });

/** Anything that the processor sends. The signature is checked on the bytes. */
export const processorWebhookSchema = z
  .looseObject({ id: z.string(), type: z.string() })
  .meta({ id: 'ProcessorWebhook' });
export const webhookReceivedSchema = z.object({ received: z.literal(true) });
export const healthSchema = z.object({ status: z.literal('ok') });
export const readySchema = z.object({ status: z.literal('ready') });
export const unreadySchema = z.object({ status: z.literal('unavailable') });
