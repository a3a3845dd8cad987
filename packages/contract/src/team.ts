import { z } from 'zod';
import { appRole, email, moment } from './control.ts';
import { accountId, appId } from './identifiers.ts';

/** Requests and answers about the members of an app and invitations to become one. */

export const memberSchema = z
  .object({ accountId: z.string(), email: z.string(), name: z.string().nullable(), role: appRole, since: moment })
  .meta({ id: 'Member' });
/** An invitation that was mailed. Its token is in the mail alone. */
export const invitationSchema = z
  .object({ invitationId: z.string(), email: z.string(), role: appRole, expiresAt: moment })
  .meta({ id: 'Invitation' });
export const teamSchema = z.object({ members: z.array(memberSchema), invitations: z.array(invitationSchema) });
export const inviteSchema = z.strictObject({ email, role: appRole });
export const changeMemberSchema = z.strictObject({ role: appRole });
export const memberParamsSchema = z.object({ appId, accountId });
export const invitationParamsSchema = z.object({ appId, invitationId: z.string() });
export const acceptInvitationSchema = z.strictObject({
  token: z.string().max(256).meta({ description: 'The token from the link in the mail.' }),
});
