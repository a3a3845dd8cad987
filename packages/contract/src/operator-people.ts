import { z } from 'zod';
import { personExportSchema } from './person-export.ts';
import { amount, email, moment } from './control.ts';
import { identityId } from './identifiers.ts';
import { money, reason, reasonSchema } from './operator.ts';
import { operatorWalletParamsSchema, operatorWalletSchema } from './operator-wallets.ts';

/** People who own wallets: finding, moving, export and deletion (CP-12). */

export const identityQuerySchema = z.strictObject({ email });
export const moveIdentitySchema = z.strictObject({ email, reason });

export const personActSchema = z.strictObject({ reason });

const count = z.int();

/** Why a person cannot be deleted yet. */
const obstacle = z
  .enum(['money', 'held', 'debt', 'checkout', 'gift', 'refund', 'dispute', 'case', 'waiting', 'rest'])
  .meta({
    description:
      'What prevents the deletion. `money` is in the wallet. `held` money is set aside for running calls. `debt` is a shortfall. A `checkout` may still be paid, and so may a `gift`, which is a checkout of theirs for somebody else’s wallet. The processor has not confirmed a `refund`. In a `dispute`, a bank may still give money back. A `case` about a payment waits for an operator. An act of an operator is `waiting` for a second person. A `rest` is less than can be paid back, and nobody has agreed to give up as much.',
  });

const rests = z.array(z.object({ appId: z.string(), userId: z.string(), amountMicros: amount, currency: z.string() }));

/** What a deletion takes away, and what stands in its way. */
const personHoldingsSchema = z
  .object({
    identityId: z.string(),
    email: z.string(),
    moves: z
      .array(z.object({ at: moment, before: z.string(), after: z.string() }))
      .meta({ description: 'The latest 100 changes of the e-mail by an operator.' }),
    sessions: count,
    passkeys: count,
    wallets: z.array(z.object({ appId: z.string(), userId: z.string(), balanceMicros: amount, currency: z.string() })),
    rests: rests.meta({
      description:
        'What is left in wallets and too small to be paid back. A deletion gives it up, if `givesUp` names the amounts.',
    }),
    obstacles: z
      .array(z.object({ kind: obstacle, appId: z.string().nullable(), userId: z.string().nullable() }))
      .meta({ description: 'What prevents the deletion. If the list is empty, the person can be deleted now.' }),
  })
  .meta({ id: 'PersonHoldings' });

const person = z.object({ identityId });
/** A person who owns wallets. */
const identitySchema = z
  .object({
    identityId: z.string(),
    email: z.string(),
    wallets: z
      .array(z.object({ appId: z.string(), userId: z.string() }))
      .meta({ description: 'The newest 100 wallets that they have connected.' }),
  })
  .meta({ id: 'Identity' });
const RESTS_MAX = 1_000;

/** What each route about people takes and answers. */
export const PEOPLE_ROUTES = {
  'GET /operator/identities': { query: identityQuerySchema, answer: identitySchema },
  'GET /operator/identities/{identityId}': { params: person, answer: personHoldingsSchema },
  'PATCH /operator/identities/{identityId}': { params: person, body: moveIdentitySchema, answer: identitySchema },
  'POST /operator/identities/{identityId}/export': {
    params: person,
    body: personActSchema,
    answer: personExportSchema,
  },
  'POST /operator/identities/{identityId}/delete': {
    params: person,
    body: z.strictObject({
      reason,
      givesUp: z
        .array(z.strictObject({ appId: z.string().max(64), userId: z.string().max(256), amountMicros: money }))
        .max(RESTS_MAX)
        .optional()
        .meta({
          description:
            'What the person gives up, for each wallet of `rests`: the most that may be given up there. Make sure that they agree.',
        }),
    }),
    answer: z.object({ identityId: z.string(), wallets: count, givenUp: rests }),
  },
  'POST /operator/apps/{appId}/wallets/{userId}/release': {
    params: operatorWalletParamsSchema,
    body: reasonSchema,
    answer: operatorWalletSchema,
  },
} as const;
