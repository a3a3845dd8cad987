import { z } from 'zod';
import { moment } from './control.ts';
import { appId } from './identifiers.ts';
import { anyAppSchema, changeAnyAppSchema, reasonSchema } from './operator.ts';

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

const app = { params: z.object({ appId }), answer: anyAppSchema };
const halt = { ...app, body: reasonSchema };

/** What each route about apps takes and answers. */
export const APP_ROUTES = {
  'GET /operator/apps': {
    query: z.strictObject({ query: z.string().max(256).default('') }),
    answer: z.object({ apps: z.array(anyAppSchema) }),
  },
  /** One app, with its members and keys. What its calls cost is in `GET /operator/stats`. */
  'GET /operator/apps/{appId}': {
    ...app,
    answer: z
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
      .meta({ id: 'AnyAppDetails' }),
  },
  'PATCH /operator/apps/{appId}': { ...app, body: changeAnyAppSchema },
  'POST /operator/apps/{appId}/suspend': halt,
  'POST /operator/apps/{appId}/resume': halt,
} as const;
