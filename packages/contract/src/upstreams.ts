import { z } from 'zod';

const breakerState = z.enum(['closed', 'open', 'testing']).meta({
  description:
    'The state of the breaker. `closed` means that calls go there, `open` that too many calls failed and others are asked first, and `testing` that one call finds out whether it works again.',
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
      testInMs: milliseconds
        .nullable()
        .meta({ description: 'The milliseconds until an open breaker is tested. It is null for a closed one.' }),
      lastMinute: z.object({ ...lastMinute, firstByteMs: milliseconds.nullable() }).meta({
        description:
          '`failures` counts outages, timeouts and broken answers. `firstByteMs` is the mean time that its streams took to begin.',
      }),
      keys: z.array(z.object({ name: z.string().nullable(), state: breakerState, ...lastMinute })).meta({
        description:
          'The keys of the pool. `failures` counts calls that were throttled, or refused because of the key.',
      }),
      underWay: z
        .int()
        .nullable()
        .meta({ description: 'The number of calls at the provider now. It is null if the provider has no limits.' }),
      waiting: z.int().nullable().meta({
        description: 'The number of calls that wait for their turn there. It is null if the provider has no limits.',
      }),
    }),
  ),
});
