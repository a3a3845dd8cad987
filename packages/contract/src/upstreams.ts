import { z } from 'zod';

const breakerState = z.enum(['closed', 'open', 'testing']).meta({
  description:
    '`closed`: calls go there. `open`: too many calls failed, so others are asked first. `testing`: one call finds out whether it is well again.',
});
const milliseconds = z.int().min(0);
const lastMinute = { calls: z.int(), failures: z.int() };

/** How the upstreams of the catalogue serve, as the process sees it that answers. */
export const upstreamListSchema = z.object({
  upstreams: z.array(
    z.object({
      provider: z.string(),
      providerModel: z.string(),
      models: z.array(z.string()).meta({ description: 'The models of the catalogue that it serves.' }),
      state: breakerState,
      testInMs: milliseconds.nullable().meta({ description: 'Until an open one is tested; null for a closed one.' }),
      lastMinute: z.object({ ...lastMinute, firstByteMs: milliseconds.nullable() }).meta({
        description: 'Failures are outages, timeouts and broken answers. `firstByteMs`: the mean of its streams.',
      }),
      keys: z
        .array(z.object({ name: z.string().nullable(), state: breakerState, ...lastMinute }))
        .meta({ description: 'The keys of the pool. Failures are calls that were throttled, or refused for the key.' }),
      underWay: z.int().nullable().meta({ description: 'Calls at the provider now, if it has limits.' }),
      waiting: z.int().nullable().meta({ description: 'Calls that wait for their turn there, if it has limits.' }),
    }),
  ),
});
