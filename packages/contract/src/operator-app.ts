import { z } from 'zod';
import { moment } from './control.ts';
import { anyAppSchema } from './operator.ts';

/** A key as operators see it. */
export const anyKeySchema = z.object({
  keyId: z.string(),
  mode: z.enum(['live', 'sandbox']),
  name: z.string().nullable(),
  hint: z
    .string()
    .meta({ description: 'The prefix and the last characters of the key. The key itself is kept nowhere.' }),
  createdAt: moment,
  lastUsedAt: moment.nullable(),
  expiresAt: moment.nullable(),
  revokedAt: moment.nullable(),
});

/** One app, with its members and keys. What its calls cost is in `GET /operator/stats`. */
export const anyAppDetailsSchema = z
  .object({
    app: anyAppSchema,
    members: z.array(
      z.object({
        accountId: z.string(),
        email: z.string(),
        role: z.enum(['viewer', 'developer', 'owner']),
        since: moment,
      }),
    ),
    keys: z.array(anyKeySchema).meta({ description: 'The keys in force, and the hundred that ended last.' }),
  })
  .meta({ id: 'AnyAppDetails' });
