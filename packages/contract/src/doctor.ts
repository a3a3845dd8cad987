import { z } from 'zod';
import { moment } from './control.ts';

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

export const doctorSchema = z
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
