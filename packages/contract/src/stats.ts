import { z } from 'zod';
import { amount, moment } from './control.ts';

/** Sums of an app's calls, for its owner: what the charts of the console show. */

export const statsQuerySchema = z.strictObject({
  mode: z.enum(['live', 'sandbox']).default('live'),
  step: z
    .enum(['hour', 'day'])
    .default('hour')
    .meta({ description: 'The width of a point of `series`, in UTC. At most 31 days by hour, and 400 days by day.' }),
  from: moment.optional().meta({
    description:
      'Widened to a whole step. 24 hours before `to` if you leave it out, or 30 days by day. Hours are kept for 61 days.',
  }),
  to: moment.optional().meta({ description: 'Exclusive, and widened to a whole step. Now if you leave it out.' }),
});

const latencySchema = z
  .object({
    count: z.int(),
    p50Ms: z.int().nullable(),
    p95Ms: z.int().nullable(),
  })
  .meta({ description: 'Estimated from counts in 16 ranges. Null if there were no answers.' });

/** Sums of calls, as their owners see them. */
export const figures = {
  calls: z.int(),
  chargedCalls: z.int().meta({
    description: 'Of live calls, exactly those with a receipt and a charge. A new one appears within some seconds.',
  }),
  refusals: z.int().meta({ description: 'Calls that the service refused, by any of the codes of `outcomes`.' }),
  providerErrors: z.int().meta({ description: '`UPSTREAM_PROVIDER_ERROR` and `UPSTREAM_THROTTLED`.' }),
  faults: z.int().meta({ description: '`INTERNAL_SERVER_ERROR`.' }),
  chargedMicros: amount.meta({ description: 'What users paid. Play money with `mode=sandbox`.' }),
  promptTokens: z.int(),
  completionTokens: z.int(),
  firstByte: latencySchema.meta({ description: 'How long streams took to begin.' }),
  total: latencySchema.meta({ description: 'How long answers took.' }),
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
  .meta({ description: 'The outcomes of most calls first.' });

export const statsSchema = z
  .object({
    mode: z.enum(['live', 'sandbox']),
    from: moment,
    to: moment,
    totals: z.object(figures),
    series: z.array(z.object({ at: moment, ...figures })).meta({
      description: 'One point for each step, in order, also those without calls.',
    }),
    models: z.array(z.object({ model: z.string().nullable(), ...figures })).meta({
      description:
        'The models that cost most first. Null stands for calls that were refused before their model was known.',
    }),
    outcomes: outcomesSchema,
    keys: z
      .array(
        z.object({
          keyId: z.string(),
          name: z
            .literal('Playground')
            .optional()
            .meta({ description: 'For the calls of the console’s playground, which have no key of the app.' }),
          calls: z.int(),
          chargedCalls: z.int(),
          chargedMicros: amount,
        }),
      )
      .meta({
        description:
          'The keys with most calls first. Counted in memory: if a process dies, calls of its last second are missing here.',
      }),
  })
  .meta({ id: 'AppStats' });
