import { z } from 'zod';
import { amount, moment, pageLimit } from './control.ts';

/** Requests and answers about the users of an app who have a connected wallet. */

export const appUserSchema = z
  .object({
    userId: z.string(),
    connectedSince: moment.meta({ description: 'When the user connected their wallet for the first time.' }),
    spentThisMonthMicros: amount,
    capReached: z.boolean().meta({
      description: 'The user’s monthly cap for the app allows nothing more. Also true while they have paused the app.',
    }),
  })
  .meta({ id: 'AppUser' });
export const appUserListSchema = z.object({
  users: z.array(appUserSchema),
  next: z
    .string()
    .nullable()
    .meta({ description: 'Pass it as `?after=` to get the next page. Null on the last page.' }),
});
export const appUsersQuerySchema = z.strictObject({
  after: z.string().max(256).default(''),
  beginsWith: z.string().max(256).default('').meta({ description: 'Only users whose id begins with this.' }),
  limit: pageLimit(1_000, 50),
});
