import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId, userId } from './identifiers.ts';
import { nextPage, pageLimit } from './pages.ts';

/** Requests and answers about the users of an app who have a connected wallet. */

const appUserSchema = z
  .object({
    userId: z.string(),
    connectedSince: moment.meta({ description: 'When the user connected their wallet for the first time.' }),
    spentThisMonthMicros: amount,
    capReached: z.boolean().meta({
      description:
        'Whether the user’s monthly cap for the app allows nothing more. It is also true while they have paused the app.',
    }),
    lastChargedAt: moment
      .nullable()
      .meta({ description: 'When the latest call that cost something was charged. It is null if there was none.' }),
  })
  .meta({ id: 'AppUser' });
export const appUserParamsSchema = z.object({ appId, userId });
export const appUserDetailsSchema = appUserSchema
  .extend({
    spentMicros: amount.meta({ description: 'What all calls of the user through this app were charged, in micros.' }),
    spendCapMicros: amount
      .nullable()
      .meta({ description: 'The monthly cap in micros. It is null if the user set none.' }),
  })
  .meta({ id: 'AppUserDetails' });
export const appUserListSchema = z.object({
  users: z.array(appUserSchema),
  next: nextPage('after'),
});
export const appUsersQuerySchema = z.strictObject({
  after: z.string().max(256).default(''),
  beginsWith: z.string().max(256).default('').meta({ description: 'Lists only users whose id begins with this.' }),
  limit: pageLimit(1_000, 50),
});
