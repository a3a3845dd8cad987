import { z } from 'zod';
import { amount, email, moment } from './control.ts';
import { identityId } from './identifiers.ts';
import { money, reason } from './operator.ts';

/** People who own wallets: finding, moving, export and deletion (CP-12). */

export const identityQuerySchema = z.strictObject({ email });
export const identityParamsSchema = z.object({ identityId });
export const moveIdentitySchema = z.strictObject({ email, reason });
/** A person who owns wallets. */
export const identitySchema = z
  .object({
    identityId: z.string(),
    email: z.string(),
    wallets: z
      .array(z.object({ appId: z.string(), userId: z.string() }))
      .meta({ description: 'The newest 100 wallets that they have connected.' }),
  })
  .meta({ id: 'Identity' });

export const personActSchema = z.strictObject({ reason });

const RESTS_MAX = 1_000;
export const personDeleteSchema = z.strictObject({
  reason,
  givesUp: z
    .array(z.strictObject({ appId: z.string().max(64), userId: z.string().max(256), amountMicros: money }))
    .max(RESTS_MAX)
    .optional()
    .meta({
      description:
        'What the person gives up, for each wallet of `rests`: the most that may be given up there. Make sure that they agree.',
    }),
});

const when = moment.nullable();
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
export const personHoldingsSchema = z
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

export const personDeletedSchema = z.object({ identityId: z.string(), wallets: count, givenUp: rests });

/** A change of the e-mail by an operator. */
const move = z.object({ at: moment, before: z.string(), after: z.string() });
const payment = z.object({
  paymentId: z.string(),
  amountMicros: amount,
  currency: z.string(),
  state: z.string(),
  refundedMicros: amount,
  disputedMicros: amount,
  paidAt: moment,
});
const refund = z.object({
  refundId: z.string(),
  paymentId: z.string(),
  amountMicros: amount,
  state: z.string(),
  createdAt: moment,
  endedAt: when,
});
const movement = z.object({
  seq: count,
  at: moment,
  kind: z.string(),
  direction: z.enum(['in', 'out', 'beside']),
  amountMicros: amount,
  balanceAfterMicros: amount,
  callId: z.string().nullable(),
});
const receipt = z.object({
  callId: z.string(),
  correlationId: z.string().nullable().meta({ description: 'The correlation id that the app sent, or null.' }),
  at: moment,
  model: z.string().nullable(),
  outcome: z.enum(['answered', 'abandoned', 'failed', 'expired']),
  estimated: z.boolean(),
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  heldMicros: amount,
  chargedMicros: amount,
  lateFor: z.string().optional().meta({
    description:
      'The `callId` of the call that this charges late. The call has another receipt, with which its hold was released.',
  }),
});
const callTrace = z.object({
  at: moment,
  correlationId: z.string(),
  callId: z.string().nullable(),
  model: z.string().nullable(),
  stream: z.boolean(),
  wire: z.string().nullable(),
  session: z.string().nullable(),
  outcome: z.string(),
  status: count.nullable(),
  code: z.string().nullable(),
  param: z.string().nullable(),
  message: z.string().nullable(),
});
const wallet = z.object({
  connectionId: z.string(),
  appId: z.string(),
  appName: z.string().nullable(),
  userId: z.string().meta({ description: 'The app’s name for the person.' }),
  userLabel: z.string().nullable(),
  connectedAt: moment,
  connected: z.boolean(),
  suspended: z.boolean(),
  paused: z.boolean(),
  currency: z.string(),
  balanceMicros: amount,
  reservedMicros: amount,
  availableMicros: amount,
  spendCapMicros: amount.nullable(),
  spentThisMonthMicros: amount,
  alertPercents: z.array(count).meta({ description: 'The percentages of the cap about which they want a mail.' }),
  payments: z.array(payment),
  refunds: z.array(refund),
  movements: z.array(movement).meta({ description: 'All of them, the newest first.' }),
  receipts: z
    .array(receipt)
    .meta({ description: 'The receipts of all calls that ended. No prompt and no answer is ever kept.' }),
  callTraces: z.array(callTrace).meta({ description: 'What became of calls of the last days, refused ones included.' }),
  codingSessions: z
    .array(
      z.object({
        name: z.string(),
        client: z.string().nullable(),
        begunAt: moment,
        lastCallAt: moment,
        calls: count,
        chargedMicros: amount,
      }),
    )
    .meta({ description: 'The sessions that coding agents named in the last days, and what they cost.' }),
});

/** The file with everything that is kept about a person. `format` changes if readers must know. */
export const personExportSchema = z
  .object({
    format: z.literal('purser-person-1'),
    exportedAt: moment,
    identity: z.object({ identityId: z.string(), email: z.string(), createdAt: moment }),
    moves: z.array(move).meta({ description: 'Changes of the e-mail by an operator.' }),
    passkeys: z
      .array(z.object({ addedAt: moment, lastUsedAt: when }))
      .meta({ description: 'When each passkey was added and last used. The keys themselves are not in the file.' }),
    sessions: z.array(z.object({ createdAt: moment, lastUsedAt: moment, expiresAt: moment })),
    signIns: z
      .array(z.object({ at: moment, result: z.string(), from: z.string(), count }))
      .meta({ description: 'Sign-ins and attempts, counted by minute, with the network address.' }),
    mails: z
      .array(z.object({ subject: z.string(), createdAt: moment, outcome: z.string().nullable() }))
      .meta({ description: 'Mails to this person that are still kept. `outcome` is null until they are sent.' }),
    acts: z
      .array(z.object({ at: moment, action: z.string() }))
      .meta({ description: 'What they did, and what was done to them, by the audit trail.' }),
    checkouts: z
      .array(
        z.object({
          checkoutId: z.string(),
          appId: z.string(),
          amountMicros: amount,
          currency: z.string(),
          createdAt: moment,
          paidAt: when,
        }),
      )
      .meta({ description: 'The payments that they began, including those for wallets of others.' }),
    wallets: z.array(wallet),
  })
  .meta({ id: 'PersonExport' });
