import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId } from './identifiers.ts';
import { before, nextPage, pageLimit } from './pages.ts';
import { SIGN_IN_RESULTS } from './sign-in-results.ts';

/** The audit trail, and sign-ins, as owners and operators read them. */

export const auditPageSchema = z.strictObject({
  before,
  limit: pageLimit(500, 100),
});
const facts = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ description: 'The fields that the act is about, never a secret. It is null if there are none.' });
const address = z.string().nullable().meta({
  description: 'The network address of the caller. It is null if it is not known, and after `PURSER_SIGN_IN_DAYS`.',
});
export const auditEntrySchema = z.object({
  at: moment,
  actor: z.string(),
  actorName: z.string().nullable().meta({ description: 'The e-mail of the account at that time.' }),
  from: address,
  action: z.string(),
  subject: z.string(),
  reason: z.string().nullable(),
  amountMicros: amount
    .nullable()
    .meta({ description: 'The money that the act moved, in micros. It is null if it moved none.' }),
  before: facts,
  after: facts,
});
export const auditListSchema = z.object({ entries: z.array(auditEntrySchema), next: nextPage('before') });

/** The sign-ins, counted by the minute. */
export const signInListSchema = z.object({
  signIns: z.array(
    z.object({
      minute: moment,
      who: z.string().nullable().meta({ description: 'The account or identity. It is null if it is not known.' }),
      result: z.enum(SIGN_IN_RESULTS),
      from: address,
      count: z.int().min(1),
    }),
  ),
  next: nextPage('before'),
});
export const signInPageSchema = auditPageSchema.extend({
  who: z.string().max(64).optional().meta({ description: 'Lists only sign-ins of this account or identity.' }),
});
export const activityPageSchema = auditPageSchema.extend({
  action: z
    .string()
    .regex(/^[a-z-]+(\.[a-z-]+)+$/, { error: 'must be an action, such as `key.create`' })
    .max(64)
    .optional()
    .meta({ description: 'Lists only acts of this kind, such as `key.create`.' }),
});
export const ownAuditPageSchema = auditPageSchema.extend({
  appId: appId.optional().meta({ description: 'Lists only acts on this app.' }),
});
