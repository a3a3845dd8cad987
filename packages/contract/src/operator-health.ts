import { z } from 'zod';
import { moment } from './control.ts';
import { doctorSchema } from './doctor.ts';

/** How the service runs, for operators. */

const bytes = z.number().meta({ description: 'A number of bytes.' });
const seconds = z.number().meta({ description: 'A number of seconds.' });

export const healthSchema = z.object({
  version: z.string().meta({ description: 'The version of this build.' }),
  processes: z
    .object({
      count: z.number(),
      uptimeSeconds: seconds,
      memoryBytes: bytes,
      callsUnderWay: z.number(),
      longestBlockSeconds: seconds,
    })
    .meta({
      description:
        'The gateway processes of this machine, together. `uptimeSeconds` is that of the oldest. `longestBlockSeconds` is the longest time within the last minute for which one of them was too busy to react.',
    }),
  leases: z
    .array(
      z.object({
        instanceId: z.string(),
        startedAt: moment,
        seconds: seconds.meta({
          description:
            'The seconds until the lease runs out. They are negative if it has run out and nobody has ended it yet.',
        }),
      }),
    )
    .meta({ description: 'The gateway processes on this database, on every machine.' }),
  lanes: z
    .array(z.object({ mode: z.string(), outcome: z.string(), calls: z.number() }))
    .meta({ description: 'Calls that ended since the processes started, by lane and outcome.' }),
  queues: z.array(
    z.object({
      name: z.enum(['settlements', 'deliveries', 'mail', 'traces', 'audit']),
      waiting: z
        .number()
        .meta({ description: 'The number of entries that wait. Deliveries and mail are counted up to 10,000.' }),
      oldestSeconds: seconds.nullable(),
    }),
  ),
  statsAt: moment.nullable().meta({ description: 'When all new receipts had last been added to the statistics.' }),
  database: z.object({
    version: z.string(),
    schema: z.int(),
    sizeBytes: bytes,
    connectionsMax: z.int(),
    connections: z.array(z.object({ name: z.string(), count: z.int() })),
    settings: z.array(z.object({ name: z.string(), value: z.string() })),
  }),
  disk: z.object({ freeBytes: bytes, totalBytes: bytes }).nullable().meta({
    description: 'The disk with the data directory of the process that answers. It is null if it cannot be read.',
  }),
  doctor: doctorSchema,
  settings: z.array(z.object({ name: z.string(), set: z.boolean() })).meta({
    description: 'The settings of the service, and whether each is set or has its default. No value is shown.',
  }),
  checks: z
    .array(
      z.object({
        kind: z.enum(['full', 'changes']),
        begunAt: moment,
        endedAt: moment,
        process: z.string(),
        passes: z.int(),
        wallets: z.int(),
        longestMs: z.int(),
        differences: z.string(),
      }),
    )
    .meta({
      description:
        'Checks of the ledger, the latest first. Those of changes run every minute and are summed by the hour.',
    }),
});

/** The result of the ledger check (WA-09). `ok` is true only if nothing differs. */
const ledgerCheckSchema = z.object({
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

/** What each route about how the service runs takes and answers. */
export const HEALTH_ROUTES = {
  'GET /operator/health': { answer: healthSchema },
  'GET /operator/ledger/check': { answer: ledgerCheckSchema },
} as const;
