import { z } from 'zod';
import { amount, moment } from './control.ts';

const when = moment.nullable();
const count = z.int();

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
