import { z } from 'zod';
import { moment } from './control.ts';

/** How the service runs, for operators. */

const bytes = z.number().meta({ description: 'A number of bytes.' });
const seconds = z.number().meta({ description: 'A number of seconds.' });

/** What the doctor looks at, in a running service too, the most urgent first. */
export const DOCTOR_CHECKS = [
  'database',
  'start',
  'schema',
  'restored',
  'secret',
  'books',
  'gateways',
  'database-settings',
  'server',
  'replication',
  'backups',
  'disk',
  'mail',
  'provider-keys',
  'clock',
  'webhooks',
  'second-factors',
  'single-sign-on',
  'second-person',
  'connections',
  'full-check',
  'prices',
  'proxies',
  'public-url',
  'payments',
  'settings',
] as const;

/** What only the command looks at: it reaches out to others, or opens connections of its own. */
export const OUTSIDE_CHECKS = [
  'public-address',
  'same-database',
  'forwarding',
  'certificate',
  'roles',
  'disk-writes',
  'processor',
  'providers',
  'mail-server',
  'other-clocks',
  'secret-strength',
] as const;

const doctorSchema = z
  .object({
    at: moment,
    findings: z.array(
      z.object({
        check: z.enum(DOCTOR_CHECKS),
        level: z.enum(['good', 'warn', 'bad']),
        what: z.string(),
        why: z.string().meta({ description: 'Why it matters. It is empty if the level is `good`.' }),
        remedy: z.string().meta({ description: 'What to do. It is empty if the level is `good`.' }),
      }),
    ),
  })
  .meta({
    description: 'What `purser doctor` says, at most half a minute old. What needs a person comes first.',
  });

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
