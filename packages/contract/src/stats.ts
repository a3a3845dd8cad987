import { z } from 'zod';
import { amount, moment } from './control.ts';

/** Sums of an app's calls, for its owner: what the charts of the console show. */

export const statsQuerySchema = z.strictObject({
  mode: z.enum(['live', 'sandbox']).default('live'),
  step: z.enum(['hour', 'day']).default('hour').meta({
    description:
      'The width of a point of `series`, in UTC. A request covers at most 31 days by hour, or 400 days by day.',
  }),
  from: moment.optional().meta({
    description:
      'The beginning, which is moved back to a whole step. The default is 24 hours before `to`, or 30 days before it by day. Hours are kept for 61 days.',
  }),
  to: moment
    .optional()
    .meta({ description: 'The end, which is exclusive and moved on to a whole step. The default is now.' }),
});

const latencySchema = z
  .object({
    count: z.int(),
    p50Ms: z.int().nullable(),
    p95Ms: z.int().nullable(),
  })
  .meta({ description: 'Milliseconds, estimated from counts in 16 ranges. They are null if there were no answers.' });

/** Sums of calls, as their owners see them. */
export const figures = {
  calls: z.int(),
  chargedCalls: z.int().meta({
    description:
      'Calls that cost something. Of live calls, these are exactly those with a receipt and a charge. A new one appears within seconds.',
  }),
  refusals: z.int().meta({ description: 'Calls that the service refused, with any of the codes in `outcomes`.' }),
  providerErrors: z
    .int()
    .meta({ description: 'Calls that ended with `UPSTREAM_PROVIDER_ERROR` or `UPSTREAM_THROTTLED`.' }),
  faults: z.int().meta({ description: 'Calls that ended with `INTERNAL_SERVER_ERROR`.' }),
  chargedMicros: amount.meta({ description: 'What users paid, in micros. With `mode=sandbox`, it is play money.' }),
  promptTokens: z.int(),
  completionTokens: z.int(),
  firstByte: latencySchema.meta({
    description:
      'How long streams took to begin, in milliseconds, estimated from counts in 16 ranges. The figures are null if there were none.',
  }),
  total: latencySchema.meta({
    description:
      'How long answers took, in milliseconds, estimated from counts in 16 ranges. The figures are null if there were none.',
  }),
};

export const outcomesSchema = z
  .array(
    z.object({
      outcome: z.string().meta({
        description:
          '`charged`, `free` (answered for nothing), `abandoned` (the caller left and paid nothing), `replayed`, or the code of an error.',
      }),
      kind: z.enum(['served', 'refused', 'provider-error', 'fault']),
      calls: z.int(),
    }),
  )
  .meta({ description: 'How calls ended. The most frequent outcomes come first.' });

export const statsSchema = z
  .object({
    mode: z.enum(['live', 'sandbox']),
    from: moment,
    to: moment,
    totals: z.object(figures),
    series: z.array(z.object({ at: moment, ...figures })).meta({
      description: 'One point for each step, in order, including steps without calls.',
    }),
    models: z.array(z.object({ model: z.string().nullable(), ...figures })).meta({
      description:
        'The models that cost most come first. The model is null for calls that were refused before it was known.',
    }),
    outcomes: outcomesSchema,
    keys: z
      .array(
        z.object({
          keyId: z.string(),
          name: z
            .literal('Playground')
            .optional()
            .meta({ description: 'Marks the calls of the console’s playground, which use no key of the app.' }),
          calls: z.int(),
          chargedCalls: z.int(),
          chargedMicros: amount,
        }),
      )
      .meta({
        description:
          'The keys with the most calls come first. They are counted in memory: if a process dies, calls of its last second are missing here.',
      }),
  })
  .meta({ id: 'AppStats' });
